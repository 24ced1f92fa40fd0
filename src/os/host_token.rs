//! A token that one process of a host holds at a time, so that of several daemons one alone does something. The kernel gives
//! it back when its holder ends.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// A claim to the token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Claim {
    /// It is held until its holder ends.
    First,
    /// It is given back as soon as another process has the first claim.
    Second,
}

/// The token, held. Each network namespace has its own.
#[derive(Debug)]
pub struct HostToken {
    claim: Claim,
    /// An address that no other process can have meanwhile.
    _socket: UnixDatagram,
}

fn bind(name: &str, claim: Claim) -> io::Result<Option<HostToken>> {
    let rank = match claim {
        Claim::First => 1,
        Claim::Second => 2,
    };
    let address = SocketAddr::from_abstract_name(format!("hostint/{name}/{rank}"))?;
    match UnixDatagram::bind_addr(&address) {
        Ok(socket) => Ok(Some(HostToken {
            claim,
            _socket: socket,
        })),
        Err(err) if err.kind() == io::ErrorKind::AddrInUse => Ok(None),
        Err(err) => Err(err),
    }
}

impl HostToken {
    /// Takes the token of this name, or keeps the one that is `held`. Returns `None` if another process has it, or one of
    /// those has the first claim.
    ///
    /// # Errors
    /// If the kernel does not say whether it is held.
    pub fn take(name: &str, claim: Claim, held: Option<Self>) -> io::Result<Option<Self>> {
        let held = held.filter(|held| held.claim == claim);
        if claim == Claim::First {
            return match held {
                Some(held) => Ok(Some(held)),
                None => bind(name, claim),
            };
        }
        let first_is_free = bind(name, Claim::First)?.is_some();
        match held {
            _ if !first_is_free => Ok(None),
            Some(held) => Ok(Some(held)),
            None => bind(name, claim),
        }
    }
}
