//! A device of user space between a router's interfaces: it sees each packet that is led to it, and may change or drop it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::netns::Host;

/// Looks at the packets of routing table 100, and sends on what its function leaves.
pub struct Inspector {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// An interface of this name whose packets are read and written as they are.
fn open(name: &str) -> File {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/net/tun")
        .unwrap();
    // struct ifreq: 16 bytes of name, then flags.
    let mut request = [0u8; 40];
    request[..name.len()].copy_from_slice(name.as_bytes());
    let flags = (libc::IFF_TUN | libc::IFF_NO_PI) as u16;
    request[16..18].copy_from_slice(&flags.to_ne_bytes());
    // SAFETY: the request is as long as struct ifreq, and valid during the call.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, request.as_mut_ptr()) };
    assert_eq!(result, 0, "{name}: {}", std::io::Error::last_os_error());
    file
}

impl Inspector {
    /// `change` returns false for packets that are to be dropped.
    pub fn start(router: &Host, change: fn(&mut Vec<u8>) -> bool) -> Self {
        let mut file = router.enter(|| open("inspector"));
        router.sh("ip link set inspector up; ip route add default dev inspector table 100
             sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.inspector.rp_filter=0 \
                 net.ipv4.conf.m0.rp_filter=0 net.ipv4.conf.m1.rp_filter=0 net.ipv4.conf.all.send_redirects=0");
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let stop = stop.clone();
            move || {
                let mut buffer = vec![0; 1 << 16];
                while !stop.load(Ordering::Relaxed) {
                    let mut ready = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
                    if poll(&mut ready, PollTimeout::from(100u8)) != Ok(1) {
                        continue;
                    }
                    let Ok(len) = file.read(&mut buffer) else {
                        continue;
                    };
                    let mut packet = buffer[..len].to_vec();
                    if change(&mut packet) {
                        // The router's own stack may refuse a packet.
                        let _ = file.write(&packet);
                    }
                }
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Inspector {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
