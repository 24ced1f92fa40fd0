//! The rights of clients: which users may ask for the status, and which may change something.

use super::message::Request;

/// The process at the other end of a connection, as the kernel names it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Caller {
    pub pid: i32,
    pub uid: u32,
    /// All groups of the process.
    pub groups: Vec<u32>,
}

/// The rights that the daemon grants.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rights {
    /// The user that the daemon runs as may ask.
    pub daemon: u32,
    /// Members of this group may ask, if there is one.
    pub group: Option<u32>,
}

/// The reason why a request is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotAllowed {
    #[error("only root and members of the group hostint may ask")]
    MayNotAsk,
    #[error("only root may change anything")]
    MayNotChange,
}

impl Rights {
    pub fn check(&self, peer: &Caller, request: &Request) -> Result<(), NotAllowed> {
        if peer.uid == 0 {
            return Ok(());
        }
        let member = self.group.is_some_and(|group| peer.groups.contains(&group));
        match request {
            Request::Reload => Err(NotAllowed::MayNotChange),
            Request::Status(_) | Request::Recent if member || peer.uid == self.daemon => Ok(()),
            Request::Status(_) | Request::Recent => Err(NotAllowed::MayNotAsk),
        }
    }
}
