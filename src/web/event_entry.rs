//! Where posted events go, and how many there is room for.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::model::{EventRefusal, NetworkEvent};

/// The most events of a second.
pub(super) const MOST_OF_A_SECOND: u32 = 10;
const SECOND: Duration = Duration::from_secs(1);

/// Where posted events go.
pub struct EventEntry {
    /// The token that a client has to send. `None`: no event is taken.
    pub token: Option<String>,
    /// Takes each event, and each refusal. Returns false if there is no room.
    pub take: Box<dyn Fn(Result<NetworkEvent, EventRefusal>) -> bool + Send + Sync>,
}

/// The events of this second.
#[derive(Debug, Default)]
pub(super) struct EventRate(Mutex<Option<(Instant, u32)>>);

impl EventRate {
    pub(super) fn has_room(&self) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (begun, count) = known.get_or_insert((Instant::now(), 0));
        if begun.elapsed() >= SECOND {
            (*begun, *count) = (Instant::now(), 0);
        }
        *count += 1;
        *count <= MOST_OF_A_SECOND
    }
}
