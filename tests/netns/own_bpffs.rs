//! A BPF file system of one host's own, which other tests neither see nor clean up.

use std::path::PathBuf;

use hostint_testing::netns::{Host, sh};
use nix::mount::{MntFlags, umount2};

/// A BPF file system of one host's own.
pub struct OwnBpffs(pub PathBuf);

impl OwnBpffs {
    /// Mounts it, for this host.
    pub fn of(host: &mut Host) -> Self {
        let folder = std::env::temp_dir().join(format!("{}-own-bpffs", host.ns));
        std::fs::create_dir_all(&folder).unwrap();
        let own = Self(folder);
        own.mount();
        host.bpffs = Some(own.0.clone());
        own
    }

    pub fn mount(&self) {
        sh(&format!(
            "mount -t bpf -o mode=700 bpf {}",
            self.0.display()
        ));
    }

    pub fn remount(&self, option: &str) {
        sh(&format!("mount -o remount,{option} {}", self.0.display()));
    }

    pub fn unmount(&self) {
        umount2(&self.0, MntFlags::MNT_DETACH).unwrap();
    }
}

impl Drop for OwnBpffs {
    fn drop(&mut self) {
        while umount2(&self.0, MntFlags::MNT_DETACH).is_ok() {}
        let _ = std::fs::remove_dir(&self.0);
    }
}
