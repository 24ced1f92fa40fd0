//! Pods and containers are named by the cgroups of their processes, whatever engine made them, and nothing else is.

use hostint::model::container::{container_at, container_of, is_provisional, namespace_called};

const ID: &str = "4f2a91c07be3d1f06a5c88e2b7904f2a91c07be3d1f06a5c88e2b7904f2a91c0";
const UID: &str = "5b0b3c1e-8a44-4f1f-9a53-0d2f6f1f7a11";

#[test]
fn the_cgroups_of_engines_give_names() {
    let under = UID.replace('-', "_");
    let pod = format!("pod/{UID}");
    let pod = pod.as_str();
    for (sentence, cgroups, name) in [
        (
            "Kubernetes with systemd and containerd",
            format!(
                "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{under}.slice/cri-containerd-{ID}.scope"
            ),
            Some(pod),
        ),
        (
            "Kubernetes, guaranteed, with CRI-O",
            format!("0::/kubepods.slice/kubepods-pod{under}.slice/crio-{ID}.scope/container"),
            Some(pod),
        ),
        (
            "Kubernetes with folders of its own",
            format!("12:memory:/kubepods/besteffort/pod{UID}/{ID}\n0::/"),
            Some(pod),
        ),
        (
            "Kubernetes in a container, as kind has it",
            format!(
                "0::/docker/{ID}/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod{under}.slice/cri-containerd-{ID}.scope"
            ),
            Some(pod),
        ),
        (
            "containerd's driver with colons",
            format!(
                "1:name=systemd:/system.slice:kubepods-besteffort-pod{under}.slice:cri-containerd:{ID}"
            ),
            Some(pod),
        ),
        (
            "a static pod, whose uid is a digest",
            "0::/kubepods/burstable/pod0123456789abcdef0123456789abcdef/x".to_owned(),
            Some("pod/0123456789abcdef0123456789abcdef"),
        ),
        (
            "another pod, from a container with a cgroup namespace of its own, with systemd",
            format!(
                "0::/../../kubepods-besteffort.slice/kubepods-besteffort-pod{under}.slice/cri-containerd-{ID}.scope"
            ),
            Some(pod),
        ),
        (
            "the same of the same class of service",
            format!("0::/../../kubepods-burstable-pod{under}.slice/crio-{ID}.scope"),
            Some(pod),
        ),
        (
            "the same with folders, of another class of service",
            format!("0::/../../../besteffort/pod{UID}/{ID}"),
            Some(pod),
        ),
        (
            "the same with folders, of the same class",
            format!("0::/../../pod{UID}/{ID}"),
            Some(pod),
        ),
        (
            "the same with folders, of version 1",
            format!("4:memory:/../../../burstable/pod{UID}/{ID}\n0::/"),
            Some(pod),
        ),
        (
            "a static pod, seen so",
            "0::/../../../burstable/pod0123456789abcdef0123456789abcdef/x".to_owned(),
            Some("pod/0123456789abcdef0123456789abcdef"),
        ),
        (
            "a static pod with systemd",
            format!(
                "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0123456789abcdef0123456789abcdef.slice/cri-containerd-{ID}.scope"
            ),
            Some("pod/0123456789abcdef0123456789abcdef"),
        ),
        (
            "Docker under Kubernetes, as cri-dockerd has it",
            format!(
                "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{under}.slice/docker-{ID}.scope"
            ),
            Some(pod),
        ),
        (
            "another container of the own pod, whose pod such a path does not tell",
            format!("0::/../cri-containerd-{ID}.scope"),
            Some("containerd/4f2a91c07be3"),
        ),
        (
            "a service of the host, from such a namespace",
            "0::/../../../../system.slice/ssh.service".to_owned(),
            None,
        ),
        (
            "the own cgroup of such a namespace",
            "0::/..".to_owned(),
            None,
        ),
        (
            "a folder of a pod's name that is not of Kubernetes",
            format!("0::/../../x/pod{UID}/y"),
            None,
        ),
        (
            "Docker with systemd",
            format!("0::/system.slice/docker-{ID}.scope"),
            Some("docker/4f2a91c07be3"),
        ),
        (
            "Docker with folders",
            format!("11:pids:/docker/{ID}\n0::/system.slice"),
            Some("docker/4f2a91c07be3"),
        ),
        (
            "Podman",
            format!("0::/machine.slice/libpod-{ID}.scope/container"),
            Some("podman/4f2a91c07be3"),
        ),
        (
            "Podman with folders",
            format!("0::/libpod_parent/libpod-{ID}"),
            Some("podman/4f2a91c07be3"),
        ),
        (
            "Podman's monitor",
            format!("0::/machine.slice/libpod-conmon-{ID}.scope"),
            None,
        ),
        (
            "containerd alone",
            format!("0::/default/{ID}"),
            Some("container/4f2a91c07be3"),
        ),
        (
            "LXC",
            "0::/lxc.payload.web/init.scope".to_owned(),
            Some("lxc/web"),
        ),
        ("LXC, its monitor", "0::/lxc.monitor.web".to_owned(), None),
        ("LXC before", "5:cpu:/lxc/web".to_owned(), Some("lxc/web")),
        (
            "a machine of systemd",
            "0::/machine.slice/machine-web.scope".to_owned(),
            Some("machine/web"),
        ),
        ("a service", "0::/system.slice/ssh.service".to_owned(), None),
        (
            "a user",
            "0::/user.slice/user-0.slice/session-1.scope".to_owned(),
            None,
        ),
        ("the root", "0::/".to_owned(), None),
        ("another's root", "0::/../../x".to_owned(), None),
        (
            "too short an id",
            "0::/docker/4f2a91c07be3".to_owned(),
            None,
        ),
        ("a pod without Kubernetes", format!("0::/pod{UID}/x"), None),
        (
            "a uid that is none",
            "0::/kubepods/pod-of-peas/x".to_owned(),
            None,
        ),
        ("nothing", String::new(), None),
        ("no cgroups", "garbage\n::\n".to_owned(), None),
    ] {
        assert_eq!(container_of(&cgroups).as_deref(), name, "{sentence}");
        if let Some(path) = cgroups.strip_prefix("0::") {
            assert_eq!(
                container_at(path).as_deref(),
                name,
                "{sentence}, by its path"
            );
        }
    }
}

#[test]
fn names_that_people_gave_are_bounded_and_show() {
    let long = container_of(&format!("0::/lxc.payload.{}", "é".repeat(300))).unwrap();
    assert_eq!(long.chars().count(), "lxc/".len() + 40);
    let hidden = container_of("0::/lxc.payload.a\u{1b}[2J\u{202e}b").unwrap();
    assert_eq!(hidden, "lxc/a\u{fffd}[2J\u{fffd}b");
    assert_eq!(namespace_called("blue").as_deref(), Some("netns/blue"));
    assert_eq!(namespace_called(""), None);
    for (name, provisional) in [("netns/blue", true), ("pod/x", false), ("docker/x", false)] {
        assert_eq!(is_provisional(name), provisional, "{name}");
    }
}
