//! The process whose socket is bound to a port of this network namespace.

use std::fs;
use std::path::{Path, PathBuf};

/// What is spoken at a port.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PortProtocol {
    Tcp,
    Udp,
}

/// A process, and the name that it was started by.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PortOwner {
    pub pid: u32,
    pub name: String,
}

/// The state of a TCP socket that listens.
const LISTENS: &str = "0A";

/// Returns the owner; `None` if there is none, or this process may not see it.
pub fn of(transport: PortProtocol, port: u16) -> Option<PortOwner> {
    let tables = match transport {
        PortProtocol::Tcp => ["tcp", "tcp6"],
        PortProtocol::Udp => ["udp", "udp6"],
    };
    let texts = tables.map(|table| fs::read_to_string(format!("/proc/thread-self/net/{table}")));
    let sockets: Vec<PathBuf> = texts
        .iter()
        .flatten()
        .flat_map(|text| text.lines().skip(1))
        .filter_map(|line| socket_at(line, transport, port))
        .collect();
    if sockets.is_empty() {
        return None;
    }
    let mut processes = fs::read_dir("/proc").ok()?.flatten();
    processes.find_map(|process| {
        let pid = process.file_name().to_str()?.parse().ok()?;
        let files = fs::read_dir(process.path().join("fd")).ok()?;
        let mut links = files
            .flatten()
            .filter_map(|file| file.path().read_link().ok());
        links
            .any(|link| sockets.contains(&link))
            .then(|| PortOwner {
                pid,
                name: name_of(&process.path()).unwrap_or_default(),
            })
    })
}

/// The socket of a line such as `5: 00000000:7FFE 00000000:0000 07 …`, as links to it read, if it is at this port.
fn socket_at(line: &str, transport: PortProtocol, port: u16) -> Option<PathBuf> {
    let mut words = line.split_whitespace().skip(1);
    let (_, at) = words.next()?.rsplit_once(':')?;
    let state = words.nth(1)?;
    let inode = words.nth(5)?;
    let counts = transport == PortProtocol::Udp || state == LISTENS;
    let is_there = counts && u16::from_str_radix(at, 16) == Ok(port);
    is_there.then(|| PathBuf::from(format!("socket:[{inode}]")))
}

/// The last part of the first word of its command line.
fn name_of(process: &Path) -> Option<String> {
    let line = fs::read(process.join("cmdline")).ok()?;
    let first = line.split(|byte| *byte == 0).next()?;
    let name = first.rsplit(|byte| *byte == b'/').next()?;
    Some(String::from_utf8_lossy(name).into_owned())
}
