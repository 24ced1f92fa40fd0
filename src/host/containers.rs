//! The containers of this machine by the numbers that the kernel has for their networks and cgroups, from /proc and the tree
//! of cgroups.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::model::container::{container_at, container_of, namespace_called};
use crate::os::rtnetlink::{self, NetnsNamedBy};
use crate::os::{cgroup, netns};

/// Where network namespaces have names.
const NAMES: [&str; 2] = ["/run/netns", "/run/docker/netns"];
/// The most names that are kept.
const MOST: usize = 16_384;
/// The depth to which cgroups are looked through. Containers of containers are deeper than others.
const DEEPEST: usize = 12;

/// What was found, by number. All of it is only good for now: the kernel gives numbers again.
#[derive(Default)]
pub struct FoundContainers {
    /// By the kernel's number for the namespace of the other end of an interface.
    pub by_peer: HashMap<i32, String>,
    /// By the inode of the network namespace.
    pub by_netns: HashMap<u32, String>,
    /// By the id of the cgroup.
    pub by_cgroup: HashMap<u64, String>,
}

impl FoundContainers {
    /// Looks at all processes. That takes no privileges: the kernel shows anybody which namespace a process is in, as
    /// a number that means something here alone.
    ///
    /// # Errors
    /// If /proc cannot be listed.
    pub fn look() -> io::Result<Self> {
        let mut found = Self::default();
        let own = netns::inode()?;
        let root = cgroup::root();
        if let Some(root) = &root {
            found.add_tree(root);
        }
        let root = root.as_deref();
        for entry in std::fs::read_dir("/proc")?.flatten() {
            let name = entry.file_name();
            let pid = name.to_str().and_then(|name| name.parse().ok());
            if let Some(pid) = pid.filter(|_| found.by_netns.len() < MOST) {
                found.add_process(pid, root, own);
            }
        }
        for folder in NAMES {
            found.add_names(Path::new(folder), own);
        }
        Ok(found)
    }

    /// Names the cgroups below this folder by their paths. That takes no process to be seen: in a pod only those of the pod
    /// are, and it has the node's tree of cgroups where that is mounted.
    pub fn add_tree(&mut self, root: &Path) {
        let mut ahead = vec![(root.to_owned(), 0)];
        while let Some((folder, depth)) = ahead.pop() {
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
                let path = entry.path();
                let below = path.strip_prefix(root).unwrap_or(&path).to_string_lossy();
                if self.by_cgroup.len() >= MOST {
                    return;
                }
                if let (Some(name), Ok(found)) =
                    (container_at(&format!("/{below}")), entry.metadata())
                {
                    self.by_cgroup.insert(found.ino(), name);
                }
                if depth < DEEPEST {
                    ahead.push((path, depth + 1));
                }
            }
        }
    }

    /// A process that ended meanwhile tells nothing.
    fn add_process(&mut self, pid: u32, root: Option<&Path>, own: u32) {
        let Ok(cgroups) = std::fs::read_to_string(format!("/proc/{pid}/cgroup")) else {
            return;
        };
        let Some(container) = container_of(&cgroups) else {
            return;
        };
        let unified = cgroups.lines().find_map(|line| line.strip_prefix("0::/"));
        // A path out of the own cgroup namespace leads out of the mount, too.
        let unified = unified.filter(|path| !path.starts_with(".."));
        if let (Some(root), Some(path)) = (root, unified)
            && let Ok(folder) = std::fs::metadata(root.join(path))
            && self.by_cgroup.len() < MOST
        {
            self.by_cgroup.insert(folder.ino(), container.clone());
        }
        // Privileges decide whether this can be seen.
        if let Some(inode) = inode_of(Path::new(&format!("/proc/{pid}/ns/net"))) {
            if inode == own {
                return;
            }
            self.by_netns.insert(inode, container.clone());
        }
        let named = self.by_peer.values().any(|known| *known == container);
        if !named && let Ok(Some(number)) = rtnetlink::netns_number(NetnsNamedBy::Process(pid)) {
            self.by_peer.entry(number).or_insert(container);
        }
    }

    /// Files that hold namespaces tell which inode has which number, and names where no container is known.
    fn add_names(&mut self, folder: &Path, own: u32) {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        for entry in entries.flatten().take(MOST) {
            let path = entry.path();
            let (Some(inode), Ok(file)) = (inode_of(&path), File::open(&path)) else {
                continue;
            };
            let number = rtnetlink::netns_number(NetnsNamedBy::File(file.as_raw_fd()));
            // Others than namespaces have no answer.
            let Ok(number) = number else { continue };
            let known = number.and_then(|number| self.by_peer.get(&number));
            let known = known.or_else(|| self.by_netns.get(&inode)).cloned();
            let called = || namespace_called(&entry.file_name().to_string_lossy());
            let Some(name) = known.or_else(called).filter(|_| inode != own) else {
                continue;
            };
            if let Some(number) = number {
                self.by_peer.entry(number).or_insert_with(|| name.clone());
            }
            self.by_netns.entry(inode).or_insert(name);
        }
    }
}

fn inode_of(path: &Path) -> Option<u32> {
    let found = std::fs::metadata(path).ok()?;
    u32::try_from(found.ino()).ok()
}
