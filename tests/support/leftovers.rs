//! What tests that were killed left behind: namespaces, what runs in them, and files. Pins go when a daemon starts.

use std::path::Path;
use std::process::Command;
use std::sync::Once;

use nix::mount::{MntFlags, umount2};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Removes them, once in each test program.
pub fn remove_once() {
    static REMOVED: Once = Once::new();
    REMOVED.call_once(|| {
        for name in names_in(Path::new("/run/netns")).filter(|name| is_left(name)) {
            for pid in ip_netns("pids", &name).lines() {
                if let Ok(pid) = pid.trim().parse() {
                    let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
                }
            }
            ip_netns("del", &name);
        }
        let folder = std::env::temp_dir();
        for name in names_in(&folder).filter(|name| is_left(name)) {
            let path = folder.join(name);
            let _ = umount2(&path, MntFlags::MNT_DETACH);
            let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
        }
    });
}

/// True for a name that a lab gave whose process is gone: `hi123-4a`.
fn is_left(name: &str) -> bool {
    let parts = name
        .strip_prefix("hi")
        .and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(pid, number)| {
        pid.parse::<u32>().is_ok()
            && number.starts_with(|first: char| first.is_ascii_digit())
            && !Path::new("/proc").join(pid).exists()
    })
}

fn names_in(folder: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

/// Another program may remove the same.
fn ip_netns(what: &str, name: &str) -> String {
    let output = Command::new("ip").args(["netns", what, name]).output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}
