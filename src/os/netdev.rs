//! Network interfaces, by name and index.

use std::collections::BTreeMap;
use std::io;
use std::mem::zeroed;

use nix::libc;
use nix::net::if_::{if_indextoname, if_nameindex, if_nametoindex};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use super::log;

/// The kernel stacks no more interfaces than this.
const DEEPEST_STACK: u8 = 8;

/// Returns an interface's index.
pub fn index_of(name: &str) -> io::Result<u32> {
    Ok(if_nametoindex(name)?)
}

/// Returns all interfaces of this network namespace, by their indices.
pub fn names() -> io::Result<BTreeMap<u32, String>> {
    let all = if_nameindex()?;
    let named = all.iter().map(|one| {
        let name = one.name().to_string_lossy().into_owned();
        (one.index(), name)
    });
    Ok(named.collect())
}

/// Returns the name of the interface with this index, if there is one.
pub fn name_of(index: u32) -> Option<String> {
    // nix returns an empty name if the kernel finds none.
    let name = if_indextoname(index).ok()?.into_string().ok()?;
    (!name.is_empty()).then_some(name)
}

/// Returns an interface's name for the log, or its index if it is gone.
pub fn label_of(index: u32) -> String {
    name_of(index).unwrap_or_else(|| format!("interface {index}"))
}

/// Opens a socket for requests about this process's network namespace.
pub(super) fn control_socket() -> io::Result<OwnedFd> {
    Ok(socket(
        AddressFamily::Inet,
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?)
}

/// Returns a request that names an interface, NUL-terminated.
pub(super) fn request_about(name: &str) -> io::Result<libc::ifreq> {
    if name.len() >= libc::IFNAMSIZ {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    // SAFETY: ifreq is plain data.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    Ok(request)
}

/// Asks the kernel one question about an interface.
fn ask(name: &str, question: libc::Ioctl) -> io::Result<libc::ifreq> {
    let socket = control_socket()?;
    let mut request = request_about(name)?;
    // SAFETY: the request is valid for writing and names the interface, NUL-terminated.
    if unsafe { libc::ioctl(socket.as_raw_fd(), question, &mut request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(request)
}

/// True if the interface's packets begin with an Ethernet header.
pub fn is_ethernet(name: &str) -> io::Result<bool> {
    let answer = ask(name, libc::SIOCGIFHWADDR)?;
    // SAFETY: SIOCGIFHWADDR fills this member.
    let family = unsafe { answer.ifr_ifru.ifru_hwaddr.sa_family };
    Ok(family == libc::ARPHRD_ETHER || family == libc::ARPHRD_LOOPBACK)
}

/// Returns the devices behind an interface that have hardware: itself, or those below a bond, a VLAN or a bridge.
pub fn hardware_behind(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    add_hardware(name, &mut found, DEEPEST_STACK);
    found
}

fn add_hardware(name: &str, found: &mut Vec<String>, depth: u8) {
    let folder = Path::new("/sys/class/net").join(name);
    if folder.join("device").exists() {
        found.push(name.to_owned());
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|_| depth > 0) {
        let entry = entry.file_name().to_string_lossy().into_owned();
        if let Some(lower) = entry.strip_prefix("lower_") {
            add_hardware(lower, found, depth - 1);
        }
    }
}

/// Returns the interfaces directly below an interface, and whether each is a port of it, as of a bridge or a bond.
pub fn directly_below(name: &str) -> Vec<(String, bool)> {
    let folder = Path::new("/sys/class/net");
    let entries = std::fs::read_dir(folder.join(name)).into_iter().flatten();
    let lower = entries.flatten().filter_map(|entry| {
        let entry = entry.file_name().to_string_lossy().into_owned();
        let lower = entry.strip_prefix("lower_")?.to_owned();
        let is_port = folder.join(&lower).join("master").exists();
        Some((lower, is_port))
    });
    lower.collect()
}

/// Returns the length of the longest IP packet that the interface takes.
pub fn mtu(name: &str) -> io::Result<u32> {
    let answer = ask(name, libc::SIOCGIFMTU)?;
    // SAFETY: SIOCGIFMTU fills this member.
    let mtu = unsafe { answer.ifr_ifru.ifru_mtu };
    u32::try_from(mtu).map_err(io::Error::other)
}

/// Keeps the kernel from sending IPv6 packets of its own through the interface.
pub fn disable_ipv6(name: &str) -> io::Result<()> {
    log::debug(|| format!("disabling IPv6 on {name}"));
    match std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1") {
        // The kernel has no IPv6.
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
