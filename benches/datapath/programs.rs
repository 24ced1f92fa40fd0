//! Programs in the kernel: how often they ran and how long, and one that does nothing.

use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::Command;

use hostint::datapath::kernel::links::{Hook, Link};
use hostint::datapath::kernel::pins::Pins;
use hostint::os::netdev;
use hostint_testing::netns::Host;
use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::{Object, ObjectBuilder};

/// The kernel counts programs' runs and their time while this lives, whatever others set `kernel.bpf_stats_enabled` to.
pub struct Stats(#[expect(dead_code, reason = "the kernel counts until it is closed")] OwnedFd);

impl Stats {
    pub fn enable() -> Self {
        // SAFETY: the call has no preconditions.
        let fd = unsafe { libbpf_sys::bpf_enable_stats(libbpf_sys::BPF_STATS_RUN_TIME) };
        assert!(
            fd >= 0,
            "the kernel cannot count the runs of programs: {}",
            std::io::Error::last_os_error()
        );
        // SAFETY: the descriptor is new, and nobody else has it.
        Self(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

/// Runs of a program so far, and their time in ns.
pub fn read(program: u32) -> (u64, u64) {
    ProgInfoIter::default()
        .find(|found| found.id == program)
        .map(|found| (found.run_cnt, found.run_time_ns))
        .expect("the program is attached")
}

/// Mean ns of a run of each program while `traffic` ran.
pub fn measure<const N: usize>(programs: [u32; N], traffic: impl FnOnce()) -> [f64; N] {
    let before = programs.map(read);
    traffic();
    let mut index = 0;
    programs.map(|program| {
        let (runs, ns) = read(program);
        let (runs_before, ns_before) = before[index];
        index += 1;
        assert!(runs > runs_before, "the traffic passed program {program}");
        (ns - ns_before) as f64 / (runs - runs_before) as f64
    })
}

/// The program behind the link that a host pinned for this role and interface.
pub fn pinned(host: &Host, role: &str, dev: &str) -> u32 {
    host.enter(|| {
        let pins = Pins::of_this_host(None, false).unwrap().unwrap();
        let link = Link::open(&pins.link(role, dev)).unwrap().unwrap();
        link.state().unwrap().program
    })
}

/// Loads `NAME.bpf.c` of this folder, compiled with the compiler that built the rest.
pub fn compile(name: &str) -> Object {
    let object: PathBuf =
        std::env::temp_dir().join(format!("hostint-{name}-{}.o", std::process::id()));
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/datapath");
    let source = format!("{folder}/{name}.bpf.c");
    let clang = std::env::var("CLANG").unwrap_or("clang".to_owned());
    let compiled = Command::new(&clang)
        .args([
            "-target", "bpf", "-mcpu=v3", "-g", "-O2", "-c", &source, "-o",
        ])
        .arg(&object)
        .status();
    assert!(compiled.unwrap().success(), "{clang} compiles {source}");
    let loaded = ObjectBuilder::default()
        .open_file(&object)
        .unwrap()
        .load()
        .unwrap();
    std::fs::remove_file(&object).unwrap();
    loaded
}

/// Programs that do nothing.
pub struct Noop {
    tc: OwnedFd,
    xdp: OwnedFd,
}

/// A program that does nothing, on its hook.
pub struct AttachedNoop {
    pub id: u32,
    _link: Link,
}

impl Noop {
    pub fn load() -> Self {
        let loaded = compile("noop");
        let program = |name: &str| {
            let found = loaded.progs().find(|program| program.name() == name);
            found.unwrap().as_fd().try_clone_to_owned().unwrap()
        };
        Self {
            tc: program("noop_tc"),
            xdp: program("noop_xdp"),
        }
    }

    pub fn attach(&self, host: &Host, dev: &str, hook: Hook) -> AttachedNoop {
        let program = match hook {
            Hook::XdpNative | Hook::XdpGeneric => &self.xdp,
            Hook::TcxEgress | Hook::TcxIngress | Hook::TcxIngressFirst => &self.tc,
        };
        let link = host.enter(|| {
            let ifindex = netdev::index_of(dev).unwrap();
            Link::create(program.as_fd(), ifindex, hook).unwrap()
        });
        AttachedNoop {
            id: link.state().unwrap().program,
            _link: link,
        }
    }
}
