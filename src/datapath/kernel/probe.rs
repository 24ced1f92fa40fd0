//! The features of the running kernel, found out by trying.

use std::ffi::CStr;
use std::fmt;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::OnceLock;

use libbpf_rs::libbpf_sys;

use super::libbpf_log::{self, collect_warnings};
use crate::os::{kernel, log};

/// Kernel features that hostint uses where they exist.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Features {
    /// bpf_ktime_get_tai_ns (6.1): a clock that follows the adjustments of the host's clock by itself.
    pub tai_clock: bool,
    /// bpf_check_mtu (5.12): the device's MTU at the moment of the packet.
    pub check_mtu: bool,
    /// bpf_cast_to_kern_ctx (6.2): the checksum state without a probe read.
    pub kernel_ctx: bool,
    /// bpf_xdp_get_buff_len (5.18): XDP on packets in several buffers.
    pub xdp_frags: bool,
    /// bpf_ktime_get_coarse_ns (5.11): the time to a few ms, cheap.
    pub coarse_clock: bool,
    /// bpf_probe_read_kernel, which lockdown=confidentiality refuses: the kernel's description of an interface or a packet.
    pub kernel_reads: bool,
    /// bpf_xdp_metadata_rx_timestamp (6.3): the time at which a packet reached the network card.
    pub nic_stamps: bool,
    /// bpf_sk_storage_get in programs that see connections (5.11): what was noted of option 114.
    pub socket_storage: bool,
    /// net.core.bpf_jit_harden is 2, as far as this process may read it: the kernel moves programs after it verified
    /// them.
    pub blinding: bool,
    /// Atomics that fetch (5.12): sequence numbers are taken without a lock.
    pub atomics: bool,
    /// No packet's program is interrupted by another packet's on the same CPU; with PREEMPT_RT it may be. A CPU counts
    /// the packets of the flows that began on it without atomics.
    pub home_cpus: bool,
}

const XDP: libbpf_sys::bpf_prog_type = libbpf_sys::BPF_PROG_TYPE_XDP;
const TC: libbpf_sys::bpf_prog_type = libbpf_sys::BPF_PROG_TYPE_SCHED_CLS;

fn has_helper(program: libbpf_sys::bpf_prog_type, helper: libbpf_sys::bpf_func_id) -> bool {
    // SAFETY: no options; the probe loads a program of its own and closes it.
    unsafe { libbpf_sys::libbpf_probe_bpf_helper(program, helper, std::ptr::null()) == 1 }
}

/// True if programs of this type load.
pub fn has_program_type(program: libbpf_sys::bpf_prog_type) -> bool {
    // SAFETY: no options; the probe loads a program of its own and closes it.
    unsafe { libbpf_sys::libbpf_probe_bpf_prog_type(program, std::ptr::null()) == 1 }
}

/// True if maps of this type can be made.
pub fn has_map_type(map: libbpf_sys::bpf_map_type) -> bool {
    // SAFETY: no options; the probe makes a map of its own and closes it.
    unsafe { libbpf_sys::libbpf_probe_bpf_map_type(map, std::ptr::null()) == 1 }
}

fn has_kernel_function(name: &CStr) -> bool {
    is_described(name, libbpf_sys::BTF_KIND_FUNC)
}

/// True if the kernel describes a type of this name and kind.
fn is_described(name: &CStr, kind: u32) -> bool {
    // SAFETY: the BTF object is freed below; the name is NUL-terminated.
    unsafe {
        // Kernels without types have no such type; that they have none is said where it matters.
        let (btf, _) = collect_warnings(|| libbpf_sys::btf__load_vmlinux_btf());
        if btf.is_null() {
            return false;
        }
        let id = libbpf_sys::btf__find_by_name_kind(btf, name.as_ptr(), kind);
        libbpf_sys::btf__free(btf);
        id > 0
    }
}

/// The operator may change this at any time.
fn is_blinding() -> bool {
    std::fs::read_to_string("/proc/sys/net/core/bpf_jit_harden")
        .is_ok_and(|level| level.trim() == "2")
}

/// An instruction of a BPF program.
pub(in crate::datapath) type Instruction = [u8; 8];

pub(in crate::datapath) const fn instruction(
    code: u8,
    registers: u8,
    off: i16,
    imm: i32,
) -> Instruction {
    let (off, imm) = (off.to_ne_bytes(), imm.to_ne_bytes());
    [
        code, registers, off[0], off[1], imm[0], imm[1], imm[2], imm[3],
    ]
}

/// Loads a program of a few instructions.
pub(in crate::datapath) fn load_instructions(
    program: libbpf_sys::bpf_prog_type,
    instructions: &[Instruction],
) -> io::Result<OwnedFd> {
    // SAFETY: the instructions and a terminated licence outlive the call; no options.
    let fd = unsafe {
        libbpf_sys::bpf_prog_load(
            program,
            std::ptr::null(),
            c"GPL".as_ptr(),
            instructions.as_ptr().cast(),
            instructions.len() as _,
            std::ptr::null_mut(),
        )
    };
    if fd < 0 {
        return Err(io::Error::from_raw_os_error(-fd));
    }
    // SAFETY: the descriptor is new, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Loads a program that uses one.
fn has_atomics() -> bool {
    const PROGRAM: [Instruction; 4] = [
        instruction(0xb7, 0x00, 0, 0),     // r0 = 0
        instruction(0x7b, 0x0a, -8, 0),    // *(u64 *)(r10 - 8) = r0
        instruction(0xdb, 0x0a, -8, 0x01), // r0 = atomic_fetch_add((u64 *)(r10 - 8), r0)
        instruction(0x95, 0x00, 0, 0),     // exit
    ];
    load_instructions(libbpf_sys::BPF_PROG_TYPE_SOCKET_FILTER, &PROGRAM).is_ok()
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            ("tai_clock", self.tai_clock),
            ("check_mtu", self.check_mtu),
            ("kernel_ctx", self.kernel_ctx),
            ("xdp_frags", self.xdp_frags),
            ("coarse_clock", self.coarse_clock),
            ("kernel_reads", self.kernel_reads),
            ("nic_stamps", self.nic_stamps),
            ("socket_storage", self.socket_storage),
            ("blinding", self.blinding),
            ("atomics", self.atomics),
            ("home_cpus", self.home_cpus),
        ];
        let present: Vec<&str> = all
            .into_iter()
            .filter_map(|(name, present)| present.then_some(name))
            .collect();
        f.write_str(&present.join(", "))
    }
}

impl Features {
    /// What the running kernel has. All but `blinding` is tried once in a process, as it reads all that the kernel
    /// reports about its types.
    pub fn probe() -> Self {
        static TRIED: OnceLock<Features> = OnceLock::new();
        Self {
            blinding: is_blinding(),
            ..*TRIED.get_or_init(Self::try_each)
        }
    }

    fn try_each() -> Self {
        libbpf_log::install();
        let features = Self {
            tai_clock: has_helper(XDP, libbpf_sys::BPF_FUNC_ktime_get_tai_ns)
                && has_helper(TC, libbpf_sys::BPF_FUNC_ktime_get_tai_ns),
            check_mtu: has_helper(XDP, libbpf_sys::BPF_FUNC_check_mtu)
                && has_helper(TC, libbpf_sys::BPF_FUNC_check_mtu),
            kernel_ctx: has_kernel_function(c"bpf_cast_to_kern_ctx"),
            xdp_frags: has_helper(XDP, libbpf_sys::BPF_FUNC_xdp_get_buff_len),
            coarse_clock: has_helper(XDP, libbpf_sys::BPF_FUNC_ktime_get_coarse_ns),
            kernel_reads: has_helper(TC, libbpf_sys::BPF_FUNC_probe_read_kernel),
            nic_stamps: has_kernel_function(c"bpf_xdp_metadata_rx_timestamp"),
            socket_storage: has_kernel_function(c"bpf_sk_storage_get_tracing"),
            blinding: is_blinding(),
            atomics: has_atomics(),
            home_cpus: !kernel::is_real_time(),
        };
        log::debug(|| format!("kernel features: {features}"));
        features
    }
}

/// True if TC programs can set the stamp of packets (bpf_skb_set_tstamp, 5.18), which then is kept while they are
/// forwarded.
pub fn has_packet_stamps() -> bool {
    libbpf_log::install();
    has_helper(TC, libbpf_sys::BPF_FUNC_skb_set_tstamp)
}
