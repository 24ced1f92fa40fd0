//! The places for clients that are served at the same time, so that no user takes them all.

use std::sync::{Arc, Mutex, PoisonError};

/// Clients at the same time.
const ALL: usize = 8;
/// Of one user; root is not limited by this, as it may do anything anyway.
const OF_ONE_USER: usize = 4;

/// The users whose clients are served.
#[derive(Debug, Default)]
pub struct ClientPlaces(Mutex<Vec<u32>>);

/// A client's place, free again when this is dropped.
#[derive(Debug)]
pub struct ClientPlace {
    all: Arc<ClientPlaces>,
    uid: u32,
}

/// The reason why a client is turned away.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NoPlace {
    #[error("{ALL} others are served already; try again in 10 s")]
    Full,
    #[error("{OF_ONE_USER} clients of this user are served already; try again in 10 s")]
    UserHasItsShare,
}

impl ClientPlaces {
    /// Takes a place for a client of this user.
    ///
    /// # Errors
    /// If all places are taken, or the user has its share of them.
    pub fn take(self: &Arc<Self>, uid: u32) -> Result<ClientPlace, NoPlace> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.iter().filter(|taken| **taken == uid).count();
        if taken.len() >= ALL {
            return Err(NoPlace::Full);
        }
        if uid != 0 && own >= OF_ONE_USER {
            return Err(NoPlace::UserHasItsShare);
        }
        taken.push(uid);
        Ok(ClientPlace {
            all: Arc::clone(self),
            uid,
        })
    }
}

impl Drop for ClientPlace {
    fn drop(&mut self) {
        let mut taken = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = taken.iter().position(|uid| *uid == self.uid) {
            taken.swap_remove(at);
        }
    }
}
