//! A line that loses, doubles and reorders packets by plan: two tun devices in the router and a thread between them.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use nix::sched::{CpuSet, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;

use crate::netns::Lab;

nix::ioctl_write_int!(tunsetiff, b'T', 202);

fn tun(name: &str) -> File {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(0)
        .open("/dev/net/tun")
        .unwrap();
    let mut request: nix::libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = nix::libc::c_char::from_ne_bytes([from]);
    }
    request.ifr_ifru.ifru_flags = (nix::libc::IFF_TUN | nix::libc::IFF_NO_PI) as i16;
    unsafe { tunsetiff(file.as_raw_fd(), &raw mut request as u64) }.unwrap();
    file
}

/// What the kernel queues for each CPU stays in order only if it is written by one.
fn stay_on_this_cpu() {
    let mut cpus = CpuSet::new();
    cpus.set(sched_getcpu().unwrap()).unwrap();
    sched_setaffinity(Pid::from_raw(0), &cpus).unwrap();
}

/// Leads what a sends to b through `plan`: for each packet with its number, from 0, what goes on now.
pub fn install(lab: &Lab, mut plan: impl FnMut(u64, Vec<u8>) -> Vec<Vec<u8>> + Send + 'static) {
    let (mut from, mut to) = lab.m.enter(|| (tun("t0"), tun("t1")));
    lab.m.sh(
        "sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.t1.rp_filter=0
         ip link set t0 txqueuelen 100000; ip link set t0 up; ip link set t1 up
         ip rule add iif m0 lookup 100; ip route add default dev t0 table 100
         ip -6 rule add iif m0 lookup 100; ip -6 route add default dev t0 table 100",
    );
    std::thread::spawn(move || {
        stay_on_this_cpu();
        let mut buffer = [0; 65536];
        let mut number = 0;
        // Ends with the namespace's devices.
        while let Ok(len) = from.read(&mut buffer) {
            // What the router itself says to its IPv6 neighbours (ff..) is no part of the plan.
            if buffer[0] >> 4 == 6 && buffer[24] == 0xff {
                continue;
            }
            for packet in plan(number, buffer[..len].to_vec()) {
                if to.write(&packet).is_err() {
                    return;
                }
            }
            number += 1;
        }
    });
}
