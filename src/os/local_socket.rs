//! Local sockets in the file system, and the process at their other end.

use std::fs::{self, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::libc;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, UnixAddr, connect, getsockopt, socket, sockopt,
};
use nix::sys::stat::{Mode, umask};
use nix::unistd::Group;

/// The most groups of a process that are read.
const MOST_GROUPS: usize = 65_536;

/// From the making of a socket to the time when it is listened at.
const LISTENS_WITHIN: Duration = Duration::from_secs(5);

/// A socket that clients connect to.
pub struct LocalListener {
    socket: UnixListener,
    path: PathBuf,
}

/// Returns the id of the group with this name, if there is one.
pub fn group(name: &str) -> Option<u32> {
    Some(Group::from_name(name).ok()??.gid.as_raw())
}

impl LocalListener {
    /// Binds the socket, and replaces one that is there: the caller knows that its process has ended. This user may
    /// connect, and members of `group` if there is one.
    pub fn bind(path: &Path, group: Option<u32>) -> io::Result<Self> {
        match fs::symlink_metadata(path) {
            Ok(found) if found.file_type().is_socket() => fs::remove_file(path)?,
            Ok(_) => {
                return Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    "there is a file that is no socket",
                ));
            }
            Err(err) if err.kind() == io::ErrorKind::NotFound => {}
            Err(err) => return Err(err),
        }
        // Until the group is set, only this user may connect.
        let before = umask(Mode::from_bits_truncate(0o177));
        let bound = UnixListener::bind(path);
        umask(before);
        let listener = Self {
            socket: bound?,
            path: path.to_owned(),
        };
        if let Some(group) = group {
            chown(path, None, Some(group))?;
            fs::set_permissions(path, Permissions::from_mode(0o660))?;
        }
        Ok(listener)
    }

    /// Lets every user connect.
    pub fn open_to_all(&self) -> io::Result<()> {
        fs::set_permissions(&self.path, Permissions::from_mode(0o666))
    }

    pub fn accept(&self) -> io::Result<UnixStream> {
        Ok(self.socket.accept()?.0)
    }

    /// Removes the file, so that new clients do not find the socket.
    pub fn hide(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the sockets in a folder whose processes have ended without doing so. Those that cannot be removed, or looked at,
/// stay. Nothing else that is there is touched.
pub fn remove_dead(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_socket = entry.file_type().is_ok_and(|kind| kind.is_socket());
        if is_socket && is_old(&entry) && is_refused(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A new socket may not be listened at yet.
fn is_old(entry: &fs::DirEntry) -> bool {
    let made = entry.metadata().and_then(|found| found.modified());
    let age = made.ok().and_then(|made| made.elapsed().ok());
    age.is_some_and(|age| age > LISTENS_WITHIN)
}

/// True if no process listens there. One that is busy has a queue of clients, or no room for this one.
fn is_refused(path: &Path) -> bool {
    let Ok(address) = UnixAddr::new(path) else {
        return false;
    };
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(AddressFamily::Unix, SockType::Stream, flags, None);
    socket.is_ok_and(|socket| {
        connect(socket.as_raw_fd(), &address) == Err(nix::errno::Errno::ECONNREFUSED)
    })
}

/// Returns the process, the user and the groups of the other end at the time when it connected.
pub fn peer(socket: &UnixStream) -> io::Result<(i32, u32, Vec<u32>)> {
    let credentials = getsockopt(socket, sockopt::PeerCredentials)?;
    let mut groups: Vec<libc::gid_t> = vec![0; 64];
    loop {
        let mut len = (groups.len() * size_of::<libc::gid_t>()) as libc::socklen_t;
        // SAFETY: there is room for as many bytes as it says.
        let result = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERGROUPS,
                groups.as_mut_ptr().cast(),
                &mut len,
            )
        };
        let count = len as usize / size_of::<libc::gid_t>();
        if result == 0 {
            groups.truncate(count);
            break;
        }
        let err = io::Error::last_os_error();
        if err.raw_os_error() != Some(libc::ERANGE) || count > MOST_GROUPS {
            return Err(err);
        }
        groups.resize(count, 0);
    }
    groups.push(credentials.gid());
    Ok((credentials.pid(), credentials.uid(), groups))
}
