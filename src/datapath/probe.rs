//! What the running kernel offers, found by trying.

use std::ffi::CStr;

use libbpf_rs::libbpf_sys;

/// Kernel features that are used where they exist.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Features {
    /// bpf_ktime_get_tai_ns (6.1): a clock that follows the host's discipline by itself.
    pub tai_clock: bool,
    /// bpf_check_mtu (5.12): the device's MTU at the moment of the packet.
    pub check_mtu: bool,
    /// bpf_cast_to_kern_ctx (6.2): the checksum state without a probe read.
    pub kernel_ctx: bool,
}

const XDP: libbpf_sys::bpf_prog_type = libbpf_sys::BPF_PROG_TYPE_XDP;
const TC: libbpf_sys::bpf_prog_type = libbpf_sys::BPF_PROG_TYPE_SCHED_CLS;

fn has_helper(program: libbpf_sys::bpf_prog_type, helper: libbpf_sys::bpf_func_id) -> bool {
    // SAFETY: no options; the probe loads a program of its own and closes it.
    unsafe { libbpf_sys::libbpf_probe_bpf_helper(program, helper, std::ptr::null()) == 1 }
}

fn has_kernel_function(name: &CStr) -> bool {
    // SAFETY: the BTF object is freed below; the name is NUL-terminated.
    unsafe {
        let btf = libbpf_sys::btf__load_vmlinux_btf();
        if btf.is_null() {
            return false;
        }
        let id = libbpf_sys::btf__find_by_name_kind(btf, name.as_ptr(), libbpf_sys::BTF_KIND_FUNC);
        libbpf_sys::btf__free(btf);
        id > 0
    }
}

impl Features {
    /// Asks the running kernel.
    pub fn probe() -> Self {
        Self {
            tai_clock: has_helper(XDP, libbpf_sys::BPF_FUNC_ktime_get_tai_ns)
                && has_helper(TC, libbpf_sys::BPF_FUNC_ktime_get_tai_ns),
            check_mtu: has_helper(XDP, libbpf_sys::BPF_FUNC_check_mtu)
                && has_helper(TC, libbpf_sys::BPF_FUNC_check_mtu),
            kernel_ctx: has_kernel_function(c"bpf_cast_to_kern_ctx"),
        }
    }
}
