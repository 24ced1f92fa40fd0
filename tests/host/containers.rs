//! The cgroups of pods and containers are found in the tree of cgroups, without a look at processes.

use std::fs;
use std::os::unix::fs::MetadataExt;

use hostint::host::containers::FoundContainers;
use hostint_testing::scratch::Folder;

const ID: &str = "4f2a91c07be3d1f06a5c88e2b7904f2a91c07be3d1f06a5c88e2b7904f2a91c0";
const UID: &str = "5b0b3c1e-8a44-4f1f-9a53-0d2f6f1f7a11";

#[test]
fn the_tree_of_cgroups_names_pods_by_their_folders() {
    let scratch = Folder::create();
    let under = UID.replace('-', "_");
    let pod = format!("pod/{UID}");
    let cases = [
        (
            "a pod, with systemd",
            format!("kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{under}.slice"),
            Some(&*pod),
        ),
        (
            "its container",
            format!(
                "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{under}.slice/cri-containerd-{ID}.scope"
            ),
            Some(&*pod),
        ),
        (
            "what systemd in it made",
            format!(
                "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{under}.slice/cri-containerd-{ID}.scope/system.slice/a.service"
            ),
            Some(&*pod),
        ),
        (
            "a container with folders",
            format!("kubepods/besteffort/pod{UID}/{ID}"),
            Some(&*pod),
        ),
        (
            "all pods",
            "kubepods.slice/kubepods-burstable.slice".to_owned(),
            None,
        ),
        (
            "podman",
            format!("machine.slice/libpod-{ID}.scope"),
            Some("podman/4f2a91c07be3"),
        ),
        ("a service", "system.slice/ssh.service".to_owned(), None),
    ];
    for (_, folder, _) in &cases {
        fs::create_dir_all(scratch.path().join(folder)).unwrap();
    }
    let mut found = FoundContainers::default();
    found.add_tree(scratch.path());
    for (sentence, folder, name) in cases {
        let inode = fs::metadata(scratch.path().join(folder)).unwrap().ino();
        assert_eq!(
            found.by_cgroup.get(&inode).map(String::as_str),
            name,
            "{sentence}"
        );
    }
}
