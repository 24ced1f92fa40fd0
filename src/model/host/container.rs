//! The names of containers and pods, as the cgroups of their processes tell them.

use crate::model::node_identity::printable;

/// The digits of a container's id that are shown, as its tools show them.
const SHOWN_DIGITS: usize = 12;
/// The digits of a whole id.
const ID_DIGITS: usize = 64;
/// The longest name that an administrator gave.
const MOST_CHARS: usize = 40;

/// The prefixes of scopes that container engines make, and how the engine is called here.
const SCOPES: [(&str, &str); 6] = [
    ("docker-", "docker"),
    ("libpod-", "podman"),
    ("cri-containerd-", "containerd"),
    ("nerdctl-", "containerd"),
    ("containerd-", "containerd"),
    ("crio-", "crio"),
];

/// Names the pod or container of a process by the text of its `/proc/PID/cgroup`: `pod/UID` of Kubernetes,
/// `docker/ID`, `podman/ID`, `containerd/ID`, `crio/ID`, `container/ID`, `lxc/NAME` or `machine/NAME`. Returns `None` if it
/// is in none.
pub fn container_of(cgroups: &str) -> Option<String> {
    let paths = || {
        cgroups
            .lines()
            .filter_map(|line| line.splitn(3, ':').nth(2))
    };
    // A pod has several containers and one network, so it comes first.
    let pod = paths().find_map(pod_in);
    pod.or_else(|| paths().find_map(container_in))
}

/// The same by the path of one cgroup.
pub fn container_at(path: &str) -> Option<String> {
    pod_in(path).or_else(|| container_in(path))
}

/// The parts of a path; drivers of systemd write colons for slashes.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', ':'])
}

/// The folders that the kubelet's cgroupfs driver has pods in, one for each class of service but the guaranteed one.
const CLASSES: [&str; 2] = ["besteffort", "burstable"];

fn pod_in(path: &str) -> Option<String> {
    if path.contains("kubepods") {
        return parts(path).find_map(|part| {
            let part = part.strip_suffix(".slice").unwrap_or(part);
            named_pod(part.rsplit_once("pod")?.1)
        });
    }
    // In a cgroup namespace of its own a process sees others by the way up from itself, on which the first folder, kubepods,
    // does not lie if it is in a pod, too.
    let mut below = path.strip_prefix("/..")?;
    while let Some(further) = below.strip_prefix("/..") {
        below = further;
    }
    let mut parts = below.split('/').skip(1);
    let first = parts.next()?;
    let folder = match CLASSES.contains(&first) {
        true => parts.next()?,
        false => first,
    };
    named_pod(folder.strip_prefix("pod")?)
}

/// `pod/UID`, if it is the uid of a pod: static pods have a digest in its place.
fn named_pod(uid: &str) -> Option<String> {
    let uid = uid.replace('_', "-");
    let digits = uid.chars().filter(char::is_ascii_hexdigit).count();
    let is_uid = digits == 32 && uid.chars().all(|c| c == '-' || c.is_ascii_hexdigit());
    is_uid.then(|| format!("pod/{uid}"))
}

fn container_in(path: &str) -> Option<String> {
    let mut before = "";
    for part in parts(path) {
        if let Some(found) = named(before, part) {
            return Some(found);
        }
        before = part;
    }
    None
}

fn named(before: &str, part: &str) -> Option<String> {
    let bare = part.strip_suffix(".scope").unwrap_or(part);
    for (prefix, engine) in SCOPES {
        if let Some(id) = bare.strip_prefix(prefix).and_then(short_id) {
            return Some(format!("{engine}/{id}"));
        }
    }
    if let Some(id) = short_id(bare) {
        let engine = match before {
            "docker" => "docker",
            "libpod" | "libpod_parent" => "podman",
            "cri-containerd" => "containerd",
            _ => "container",
        };
        return Some(format!("{engine}/{id}"));
    }
    if let Some(name) = bare.strip_prefix("lxc.payload.") {
        return given("lxc", name);
    }
    match before {
        "lxc" => given("lxc", bare),
        "machine.slice" if part.ends_with(".scope") => {
            given("machine", bare.strip_prefix("machine-")?)
        }
        _ => None,
    }
}

fn short_id(text: &str) -> Option<&str> {
    let is_id = text.len() == ID_DIGITS && text.bytes().all(|c| c.is_ascii_hexdigit());
    is_id.then(|| &text[..SHOWN_DIGITS])
}

/// A name that an administrator gave, bounded and with characters that show.
fn given(kind: &str, name: &str) -> Option<String> {
    let name: String = printable(name).chars().take(MOST_CHARS).collect();
    (!name.is_empty()).then(|| format!("{kind}/{name}"))
}

/// Names a network namespace that is in no container, by the name that `ip netns` or a CNI plugin gave it.
pub fn namespace_called(name: &str) -> Option<String> {
    given("netns", name)
}

/// True if a container may be found later that has a better name.
pub fn is_provisional(name: &str) -> bool {
    name.starts_with("netns/")
}
