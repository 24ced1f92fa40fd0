//! BPF programs of others on the hooks that hostint uses.

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use hostint::datapath::kernel::links::{Hook, Link};
use hostint::datapath::kernel::pins::Pins;
use hostint_testing::netns::Host;
use libbpf_rs::query::{LinkInfo, LinkInfoIter, LinkTypeInfo};
use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcHookBuilder, libbpf_sys};
use nix::net::if_::if_nametoindex;

pub const XDP_PASS: i32 = 2;
/// The next program decides.
pub const TC_NEXT: i32 = -1;
pub const TC_OK: i32 = 0;

/// A program that counts packets and always says the same.
pub struct Foreign {
    map: OwnedFd,
    program: OwnedFd,
}

fn owned(fd: i32, what: &str) -> OwnedFd {
    assert!(fd >= 0, "{what}: error {fd}");
    // SAFETY: a new descriptor that nobody else owns.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn instruction(code: u8, to: u8, from: u8, value: i32) -> u64 {
    u64::from(code) | u64::from(to | from << 4) << 8 | u64::from(value.cast_unsigned()) << 32
}

impl Foreign {
    pub fn xdp(name: &str) -> Self {
        Self::load(libbpf_sys::BPF_PROG_TYPE_XDP, name, XDP_PASS)
    }

    pub fn tc(name: &str, verdict: i32) -> Self {
        Self::load(libbpf_sys::BPF_PROG_TYPE_SCHED_CLS, name, verdict)
    }

    fn load(kind: libbpf_sys::bpf_prog_type, name: &str, verdict: i32) -> Self {
        let name = CString::new(name).unwrap();
        // SAFETY: the name is NUL-terminated; no options.
        let map = owned(
            unsafe {
                libbpf_sys::bpf_map_create(
                    libbpf_sys::BPF_MAP_TYPE_ARRAY,
                    name.as_ptr(),
                    4,
                    8,
                    1,
                    std::ptr::null(),
                )
            },
            "map",
        );
        const MAP_VALUE: u8 = 2;
        let code = [
            instruction(0x18, 1, MAP_VALUE, map.as_raw_fd()),
            0,
            instruction(0xb7, 2, 0, 1),
            instruction(0xdb, 1, 2, 0),
            instruction(0xb7, 0, 0, verdict),
            instruction(0x95, 0, 0, 0),
        ];
        // SAFETY: as many instructions as it says; names are NUL-terminated; no options.
        let program = owned(
            unsafe {
                libbpf_sys::bpf_prog_load(
                    kind,
                    name.as_ptr(),
                    c"GPL".as_ptr(),
                    code.as_ptr().cast(),
                    code.len() as _,
                    std::ptr::null_mut(),
                )
            },
            "program",
        );
        Self { map, program }
    }

    pub fn program(&self) -> BorrowedFd<'_> {
        self.program.as_fd()
    }

    /// Runs it once on a packet that nobody sent.
    pub fn test_run(&self) {
        let frame = [0_u8; 64];
        // SAFETY: plain data; all zeros is valid.
        let mut options: libbpf_sys::bpf_test_run_opts = unsafe { std::mem::zeroed() };
        options.sz = size_of_val(&options) as _;
        options.data_in = frame.as_ptr().cast();
        options.data_size_in = frame.len() as u32;
        options.repeat = 1;
        // SAFETY: the packet lives during the call.
        let result = unsafe {
            libbpf_sys::bpf_prog_test_run_opts(self.program.as_raw_fd(), &raw mut options)
        };
        assert_eq!(result, 0, "the program runs");
    }

    /// How many packets it saw.
    pub fn packets(&self) -> u64 {
        let (key, mut value) = (0u32, 0u64);
        // SAFETY: key and value are as long as the map's.
        let result = unsafe {
            libbpf_sys::bpf_map_lookup_elem(
                self.map.as_raw_fd(),
                (&raw const key).cast(),
                (&raw mut value).cast(),
            )
        };
        assert_eq!(result, 0);
        value
    }

    /// Attaches it by a link, as long as the result lives.
    pub fn link(&self, host: &Host, dev: &str, hook: Hook) -> Link {
        host.enter(|| Link::create(self.program(), index_of(dev), hook).unwrap())
    }

    /// Attaches it as a clsact filter, for good.
    pub fn filter(&self, host: &Host, dev: &str, ingress: bool, priority: u32) {
        // A qdisc that is there already is no mistake.
        host.sh(&format!(
            "tc qdisc show dev {dev} | grep -q clsact || tc qdisc add dev {dev} clsact"
        ));
        host.enter(|| {
            TcHookBuilder::new(self.program())
                .ifindex(index_of(dev).cast_signed())
                .handle(1)
                .priority(priority)
                .hook(if ingress { TC_INGRESS } else { TC_EGRESS })
                .attach()
                .unwrap();
        });
    }

    /// Attaches it as `ip link set xdp` does, until the interface goes.
    pub fn xdp_without_link(&self, host: &Host, dev: &str) {
        host.enter(|| {
            let dev = index_of(dev).cast_signed();
            // SAFETY: no pointers but the options, of which there are none.
            let result = unsafe {
                libbpf_sys::bpf_xdp_attach(dev, self.program.as_raw_fd(), 0, std::ptr::null())
            };
            assert_eq!(result, 0);
        });
    }
}

/// In the namespace that we are in.
fn index_of(dev: &str) -> u32 {
    if_nametoindex(dev).unwrap()
}

/// Takes a program of hostint off its hook, as an outsider would; its pin stays.
pub fn take_off(host: &Host, role: &str, dev: &str) {
    host.enter(|| {
        let pins = Pins::of_this_host(None, false).unwrap().expect("pins");
        let link = Link::open(&pins.link(role, dev)).unwrap();
        link.unwrap_or_else(|| panic!("no {role} on {dev}"))
            .detach()
            .unwrap();
    });
}

/// The programs on an interface's tcx hooks, by their numbers, in their order.
pub fn tcx_programs(host: &Host, dev: &str) -> [Vec<u32>; 2] {
    [libbpf_sys::BPF_TCX_INGRESS, libbpf_sys::BPF_TCX_EGRESS].map(|hook| {
        let mut numbers = [0u32; 16];
        let mut options = libbpf_sys::bpf_prog_query_opts {
            sz: size_of::<libbpf_sys::bpf_prog_query_opts>() as _,
            prog_ids: numbers.as_mut_ptr(),
            ..Default::default()
        };
        options.__bindgen_anon_1.count = numbers.len() as u32;
        let target = host.enter(|| index_of(dev)).cast_signed();
        let result = host.enter(|| {
            // SAFETY: there is room for as many numbers as the options say.
            unsafe { libbpf_sys::bpf_prog_query_opts(target, hook, &mut options) }
        });
        assert_eq!(result, 0);
        // SAFETY: both sides of the union are the same number.
        let count = unsafe { options.__bindgen_anon_1.count };
        numbers[..count as usize].to_vec()
    })
}

/// Takes all programs off an interface's tcx hooks that links hold there. Returns how many those were.
pub fn wipe_tcx(host: &Host, dev: &str) -> usize {
    let programs = tcx_programs(host, dev).concat();
    let ifindex = host.enter(|| index_of(dev));
    let here = |link: &LinkInfo| {
        programs.contains(&link.prog_id)
            && matches!(&link.info, LinkTypeInfo::Tcx(at) if at.ifindex == ifindex)
    };
    let links: Vec<u32> = LinkInfoIter::default()
        .filter(here)
        .map(|it| it.id)
        .collect();
    for id in &links {
        // SAFETY: no pointers.
        let link = unsafe { libbpf_sys::bpf_link_get_fd_by_id(*id) };
        if link < 0 {
            // The others were missed already, and this one was replaced with them.
            continue;
        }
        let link = owned(link, "link");
        // SAFETY: the descriptor is valid.
        let result = unsafe { libbpf_sys::bpf_link_detach(link.as_raw_fd()) };
        assert_eq!(result, 0);
    }
    links.len()
}
