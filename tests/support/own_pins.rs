//! A BPF file system of a test's own, and a sink that is pinned there and attached nowhere.

use std::path::PathBuf;

use hostint::datapath::kernel::pins::Pins;
use hostint::datapath::sink::kernel_half::Sink;

use crate::netns::sh;

/// A file system for pins of its own.
pub struct OwnPins {
    folder: PathBuf,
    pub pins: Pins,
}

impl OwnPins {
    pub fn new(name: &str) -> Self {
        let name = format!("hostint-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).unwrap();
        sh(&format!("mount -t bpf bpf {}", folder.display()));
        let pins = Pins::of_this_host(Some(&folder), true).unwrap().unwrap();
        Self { folder, pins }
    }

    pub fn load(&self, flows: u32, fine: u32) -> Sink {
        let sink = Sink::load(&self.pins, &[], flows, fine).unwrap();
        sink.host.refresh_clock().unwrap();
        sink
    }
}

impl Drop for OwnPins {
    fn drop(&mut self) {
        // The process holds the file system for as long as it lives.
        sh(&format!("umount -l {0}; rmdir {0}", self.folder.display()));
    }
}
