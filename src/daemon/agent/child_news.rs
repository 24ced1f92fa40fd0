//! What the processes of roles say, and that they ended: each is a message to the agent's loop.

use std::io;
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use nix::cmsg_space;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, UnixCredentials, recvmsg, setsockopt, sockopt,
};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use crate::os::wait;

/// ChildNews of a process.
#[derive(Debug)]
pub enum ChildNews {
    Said(i32, String),
    /// It ended, and waits to be asked for its exit code.
    Ended(i32),
}

/// The longest message that a daemon of hostint sends is far shorter.
const LONGEST: usize = 8192;

/// Listens to processes of roles from now on, and returns the address to give them.
///
/// # Errors
/// If there is no socket for it.
pub fn listen(news: Sender<ChildNews>) -> io::Result<String> {
    let name = format!("hostint-agent-{}", std::process::id());
    let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
    // Any process may send something: the kernel says which one did.
    setsockopt(&socket, sockopt::PassCred, &true)?;
    thread::Builder::new().spawn(move || {
        loop {
            match receive(&socket) {
                Ok(Some(said)) => {
                    if news.send(said).is_err() {
                        return;
                    }
                    wait::wake();
                }
                Ok(None) => {}
                // The system may be out of memory, for now.
                Err(_) => thread::sleep(Duration::from_millis(100)),
            }
        }
    })?;
    Ok(format!("@{name}"))
}

fn receive(socket: &UnixDatagram) -> io::Result<Option<ChildNews>> {
    let mut bytes = [0; LONGEST];
    let mut parts = [io::IoSliceMut::new(&mut bytes)];
    let mut space = cmsg_space!(UnixCredentials);
    let received = recvmsg::<()>(
        socket.as_raw_fd(),
        &mut parts,
        Some(&mut space),
        MsgFlags::MSG_CMSG_CLOEXEC,
    )?;
    let len = received.bytes;
    let sender = received.cmsgs()?.find_map(|one| match one {
        ControlMessageOwned::ScmCredentials(sender) => Some(sender.pid()),
        _ => None,
    });
    let text = bytes.get(..len).unwrap_or_default();
    Ok(sender.map(|pid| ChildNews::Said(pid, String::from_utf8_lossy(text).into_owned())))
}

/// Sends news when this child has ended. It stays a zombie until its parent asks for its exit code, so that no other process gets
/// its number before.
///
/// # Errors
/// If there is no thread for it.
pub fn await_end(pid: i32, news: Sender<ChildNews>) -> io::Result<()> {
    let wait = move || {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        while waitid(Id::Pid(Pid::from_raw(pid)), flags) == Err(nix::errno::Errno::EINTR) {}
        // If the channel is closed, the agent has ended.
        let _ = news.send(ChildNews::Ended(pid));
        wait::wake();
    };
    thread::Builder::new().spawn(wait).map(drop)
}
