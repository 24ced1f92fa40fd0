//! Programs on hooks, attached by kernel links: pinned so that they outlive the process, replaced in place.

use std::ffi::CString;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libbpf_rs::libbpf_sys;

use super::orphans;
use crate::os::{log, netdev};

/// A hook on which a link holds a program.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hook {
    XdpNative,
    XdpGeneric,
    TcxEgress,
    TcxIngress,
    /// At ingress, before all other programs there.
    TcxIngressFirst,
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::XdpNative => "native XDP",
            Self::XdpGeneric => "generic XDP",
            Self::TcxEgress => "tcx egress",
            Self::TcxIngress => "tcx ingress",
            Self::TcxIngressFirst => "tcx ingress, first",
        })
    }
}

/// The way in which a program of the source is held at its hook.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AttachedBy {
    Link,
    /// A filter, where the kernel has no tcx.
    Clsact,
}

/// A link that the kernel holds.
pub struct Link(OwnedFd);

/// The state of a link in the kernel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LinkState {
    /// The interface's index; 0 once the interface is gone.
    pub ifindex: u32,
    /// The program's id.
    pub program: u32,
}

fn path_of(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from)
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 {
        return Err(io::Error::from_raw_os_error(-result));
    }
    Ok(result)
}

impl Link {
    /// Attaches a program by a new link.
    pub fn create(program: BorrowedFd<'_>, ifindex: u32, hook: Hook) -> io::Result<Self> {
        const XDP_SKB_MODE: u32 = 1 << 1;
        const XDP_DRV_MODE: u32 = 1 << 2;
        const BPF_F_BEFORE: u32 = 1 << 3;
        let (kind, flags) = match hook {
            Hook::XdpNative => (libbpf_sys::BPF_XDP, XDP_DRV_MODE),
            Hook::XdpGeneric => (libbpf_sys::BPF_XDP, XDP_SKB_MODE),
            Hook::TcxEgress => (libbpf_sys::BPF_TCX_EGRESS, 0),
            Hook::TcxIngress => (libbpf_sys::BPF_TCX_INGRESS, 0),
            Hook::TcxIngressFirst => (libbpf_sys::BPF_TCX_INGRESS, BPF_F_BEFORE),
        };
        let target = i32::try_from(ifindex).map_err(io::Error::other)?;
        // SAFETY: plain data; all zeros means no option.
        let mut options: libbpf_sys::bpf_link_create_opts = unsafe { std::mem::zeroed() };
        options.sz = size_of_val(&options) as _;
        options.flags = flags;
        // SAFETY: both descriptors and the options are valid during the call.
        let fd = check(unsafe {
            libbpf_sys::bpf_link_create(program.as_raw_fd(), target, kind, &options)
        })?;
        log::debug(|| {
            format!(
                "attached {} to {} ({hook})",
                program_label(program),
                netdev::label_of(ifindex)
            )
        });
        // SAFETY: the descriptor is new, and nothing else owns it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Opens the link pinned at a path. Returns `None` if there is none.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let path = path_of(path)?;
        // SAFETY: the path is NUL-terminated.
        match check(unsafe { libbpf_sys::bpf_obj_get(path.as_ptr()) }) {
            // SAFETY: the descriptor is new, and nothing else owns it.
            Ok(fd) => Ok(Some(Self(unsafe { OwnedFd::from_raw_fd(fd) }))),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(err) => Err(err),
        }
    }

    /// Pins the link, so that the program stays attached when this process ends.
    pub fn pin(&self, path: &Path) -> io::Result<()> {
        let path = path_of(path)?;
        // SAFETY: descriptor and path are valid during the call.
        check(unsafe { libbpf_sys::bpf_obj_pin(self.0.as_raw_fd(), path.as_ptr()) })?;
        log::debug(|| format!("pinned the link at {}", path.to_string_lossy()));
        Ok(())
    }

    /// Replaces the program. Each packet meets either the old one or the new one.
    pub fn replace(&self, program: BorrowedFd<'_>) -> io::Result<()> {
        // SAFETY: both descriptors are valid; no options.
        check(unsafe {
            libbpf_sys::bpf_link_update(self.0.as_raw_fd(), program.as_raw_fd(), std::ptr::null())
        })?;
        log::debug(|| format!("replaced the link's program by {}", program_label(program)));
        Ok(())
    }

    /// Detaches the program from its hook, even if other processes hold the link.
    pub fn detach(&self) -> io::Result<()> {
        // SAFETY: the descriptor is valid.
        match check(unsafe { libbpf_sys::bpf_link_detach(self.0.as_raw_fd()) }) {
            // The interface, and with it the attachment, is gone already.
            Err(err) if err.raw_os_error() == Some(nix::libc::ENOLINK) => Ok(()),
            Err(err) => Err(err),
            Ok(_) => Ok(()),
        }
    }

    /// Asks the kernel for the link's interface and program.
    pub fn state(&self) -> io::Result<LinkState> {
        // SAFETY: plain data; all zeros is a valid value.
        let mut info: libbpf_sys::bpf_link_info = unsafe { std::mem::zeroed() };
        let mut len = size_of_val(&info) as u32;
        // SAFETY: info is valid for len bytes.
        check(unsafe {
            libbpf_sys::bpf_link_get_info_by_fd(self.0.as_raw_fd(), &mut info, &mut len)
        })?;
        // SAFETY: xdp and tcx both begin with the interface's index; links of other types are never ours.
        let ifindex = unsafe { info.__bindgen_anon_1.xdp.ifindex };
        Ok(LinkState {
            ifindex,
            program: info.prog_id,
        })
    }

    /// Replaces the program of the link pinned at a path. If that link is not alive on this interface, attaches by a
    /// new link, at the first of the hooks that takes the program, and pins it there.
    pub fn attach(
        path: &Path,
        program: BorrowedFd<'_>,
        ifindex: u32,
        hooks: &[Hook],
    ) -> io::Result<()> {
        if let Some(link) = Self::open(path)? {
            log::debug(|| format!("opened the link at {}", path.display()));
            if link.state()?.ifindex == ifindex {
                return link.replace(program);
            }
            super::pins::remove(path)?;
        }
        let mut failure = io::Error::from(io::ErrorKind::InvalidInput);
        for hook in hooks {
            match Self::create(program, ifindex, *hook) {
                Ok(link) => return link.pin(path),
                Err(err) => {
                    log::debug(|| {
                        format!(
                            "the kernel does not attach {} to {} ({hook}): {err}",
                            program_label(program),
                            netdev::label_of(ifindex)
                        )
                    });
                    failure = err;
                }
            }
        }
        Err(name_occupant(failure, ifindex, hooks))
    }

    /// The same at a tc hook. Returns false where the kernel has no tcx (before 6.6): a clsact filter serves there.
    pub fn attach_tcx(
        path: &Path,
        program: BorrowedFd<'_>,
        ifindex: u32,
        hook: Hook,
    ) -> io::Result<bool> {
        match Self::attach(path, program, ifindex, &[hook]) {
            Err(err) if err.raw_os_error() == Some(nix::libc::EINVAL) => Ok(false),
            result => result.map(|()| true),
        }
    }
}

/// Detaches the program of a pinned link at once and removes the pin.
pub fn remove_link(path: &Path) -> io::Result<()> {
    if let Some(link) = Link::open(path)? {
        link.detach()?;
        log::debug(|| format!("detached the program of the link at {}", path.display()));
    }
    super::pins::remove(path)
}

/// If another XDP program holds the hook, makes the error name it.
fn name_occupant(failure: io::Error, ifindex: u32, hooks: &[Hook]) -> io::Error {
    let taken = matches!(
        failure.raw_os_error(),
        Some(nix::libc::EBUSY | nix::libc::EEXIST)
    );
    let xdp = |hook: &Hook| matches!(hook, Hook::XdpNative | Hook::XdpGeneric);
    match xdp_occupant(ifindex).filter(|_| taken && hooks.iter().any(xdp)) {
        Some(occupied) => occupied,
        None => failure,
    }
}

/// Returns an error that names the XDP program of an interface, if it has one: no other can be attached.
pub fn xdp_occupant(ifindex: u32) -> Option<io::Error> {
    let options = xdp_query(ifindex)?;
    let id = [options.drv_prog_id, options.skb_prog_id, options.prog_id]
        .into_iter()
        .find(|id| *id != 0)?;
    // Reading its name takes CAP_SYS_ADMIN.
    let name = program_name(id).map_or_else(String::new, |name| format!("{name} "));
    // The program of a source on this hook has its pin.
    if orphans::is_orphan_of_sink(id) {
        let detach = orphans::link_of(id).map_or_else(String::new, |link| {
            format!("bpftool link detach id {link}, or ")
        });
        return Some(io::Error::other(format!(
            "hostint's own XDP program {name}(id {id}) holds this hook, and is pinned in another BPF file system, or \
             in one that was unmounted (try {detach}that --bpffs)"
        )));
    }
    Some(io::Error::new(
        io::ErrorKind::ResourceBusy,
        format!("another program holds this hook: XDP program {name}(id {id})"),
    ))
}

/// The mode in which an interface runs its XDP program.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RunningXdpMode {
    Native,
    Generic,
}

fn program_info(program: BorrowedFd<'_>) -> io::Result<libbpf_sys::bpf_prog_info> {
    // SAFETY: plain data; all zeros asks for no lists.
    let mut info: libbpf_sys::bpf_prog_info = unsafe { std::mem::zeroed() };
    let mut len = size_of_val(&info) as u32;
    // SAFETY: info is valid for len bytes.
    check(unsafe {
        libbpf_sys::bpf_prog_get_info_by_fd(program.as_raw_fd(), &mut info, &mut len)
    })?;
    Ok(info)
}

/// Returns a program's id in the kernel.
pub(in crate::datapath) fn program_id(program: BorrowedFd<'_>) -> io::Result<u32> {
    Ok(program_info(program)?.id)
}

/// Returns a program's name and id, for the log.
pub(in crate::datapath) fn program_label(program: BorrowedFd<'_>) -> String {
    match program_info(program) {
        Ok(info) => format!("program {} (id {})", name_of(&info), info.id),
        Err(_) => "a program".to_owned(),
    }
}

/// Returns a program's name, or `None` without the privilege to read it.
pub(in crate::datapath) fn program_name(id: u32) -> Option<String> {
    // SAFETY: no pointers.
    let fd = check(unsafe { libbpf_sys::bpf_prog_get_fd_by_id(id) }).ok()?;
    // SAFETY: the descriptor is new, and nothing else owns it.
    let program = unsafe { OwnedFd::from_raw_fd(fd) };
    let info = program_info(program.as_fd()).ok()?;
    Some(name_of(&info))
}

fn name_of(info: &libbpf_sys::bpf_prog_info) -> String {
    let name: Vec<u8> = info
        .name
        .iter()
        .map(|byte| byte.to_ne_bytes()[0])
        .take_while(|byte| *byte != 0)
        .collect();
    String::from_utf8_lossy(&name).into_owned()
}

pub(in crate::datapath) fn xdp_query(ifindex: u32) -> Option<libbpf_sys::bpf_xdp_query_opts> {
    // SAFETY: plain data; all zeros is a valid value.
    let mut options: libbpf_sys::bpf_xdp_query_opts = unsafe { std::mem::zeroed() };
    options.sz = size_of_val(&options) as _;
    let ifindex = i32::try_from(ifindex).ok()?;
    // SAFETY: the options are valid for writing.
    check(unsafe { libbpf_sys::bpf_xdp_query(ifindex, 0, &mut options) }).ok()?;
    Some(options)
}

/// Returns the mode in which an interface runs its XDP program, if it has one.
pub fn xdp_mode(ifindex: u32) -> Option<RunningXdpMode> {
    let options = xdp_query(ifindex)?;
    if options.drv_prog_id != 0 {
        Some(RunningXdpMode::Native)
    } else if options.skb_prog_id != 0 {
        Some(RunningXdpMode::Generic)
    } else {
        None
    }
}

/// Returns the driver's XDP features, as `enum netdev_xdp_act`, or 0 where the kernel does not know them (before 6.3).
pub fn xdp_features(ifindex: u32) -> u64 {
    xdp_query(ifindex).map_or(0, |options| options.feature_flags)
}
