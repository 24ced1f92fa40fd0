//! The running kernel: its release, and settings that concern BPF.

use std::fs;
use std::io;

/// Returns the release as uname(2) gives it: 6.18.44-generic.
pub fn release() -> io::Result<String> {
    let name = nix::sys::utsname::uname()?;
    Ok(name.release().to_string_lossy().into_owned())
}

/// The bytes of a page of memory: 4096 on x86-64, up to 65536 on arm64.
pub fn page_bytes() -> u32 {
    // SAFETY: no pointers.
    let bytes = unsafe { nix::libc::sysconf(nix::libc::_SC_PAGESIZE) };
    u32::try_from(bytes).unwrap_or(4096)
}

/// True if the kernel is one with PREEMPT_RT, or does not say.
pub fn is_real_time() -> bool {
    let version = fs::read_to_string("/proc/sys/kernel/version");
    version.map_or(true, |built| built.contains("PREEMPT_RT"))
}

/// True if the kernel describes its types, which programs need to find fields.
pub fn has_btf() -> bool {
    fs::exists("/sys/kernel/btf/vmlinux").unwrap_or(false)
}

/// Reads a number below /proc/sys. Returns `None` if the kernel has no such setting or does not show it.
pub fn setting(name: &str) -> Option<i64> {
    read_number(&name.replace('.', "/"))
}

/// True if packets that come in by an interface may be routed to another one. `family` is `ipv4` or `ipv6`.
pub fn forwards(family: &str, dev: &str) -> bool {
    read_number(&format!("net/{family}/conf/{dev}/forwarding")) == Some(1)
}

fn read_number(below: &str) -> Option<i64> {
    let text = fs::read_to_string(format!("/proc/sys/{below}")).ok()?;
    text.trim().parse().ok()
}

/// Returns the mode of lockdown: `none`, `integrity` or `confidentiality`. `None` means that there is no lockdown.
pub fn lockdown() -> Option<String> {
    let modes = fs::read_to_string("/sys/kernel/security/lockdown").ok()?;
    let (_, behind) = modes.split_once('[')?;
    let (chosen, _) = behind.split_once(']')?;
    Some(chosen.to_owned())
}

/// The number of CPUs that run now, at least 1.
pub fn cpus() -> u64 {
    let found = nix::unistd::sysconf(nix::unistd::SysconfVar::_NPROCESSORS_ONLN);
    found.ok().flatten().map_or(1, |cpus| cpus.max(1) as u64)
}
