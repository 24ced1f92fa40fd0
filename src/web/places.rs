//! Places for connections. When all are taken, a connection whose client keeps the server waiting makes room.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{Notify, oneshot};

/// The places of one server.
pub struct Places {
    most: usize,
    taken: Mutex<Taken>,
    /// A place is free, or a connection keeps the server waiting.
    changed: Notify,
}

#[derive(Default)]
struct Taken {
    next: u64,
    connections: BTreeMap<u64, Connection>,
}

struct Connection {
    client: IpAddr,
    /// A request is being answered.
    answering: bool,
    /// The time since when the server has waited for this client: for the rest of a request, or for room to write.
    waits_since: Option<Instant>,
    /// The connection ends when this is dropped.
    _end: oneshot::Sender<()>,
}

/// The place of one connection, until it is dropped.
pub struct Place {
    number: u64,
    places: Arc<Places>,
}

impl Places {
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            taken: Mutex::default(),
            changed: Notify::new(),
        })
    }

    /// Takes a place for a connection, which has to end when the receiver returns. If all places are taken by
    /// connections that are being answered, the call waits.
    pub async fn take(self: &Arc<Self>, client: IpAddr) -> (Arc<Place>, oneshot::Receiver<()>) {
        loop {
            if let Some(taken) = self.try_take(client) {
                return taken;
            }
            self.changed.notified().await;
        }
    }

    fn try_take(self: &Arc<Self>, client: IpAddr) -> Option<(Arc<Place>, oneshot::Receiver<()>)> {
        let mut taken = self.lock();
        if taken.connections.len() >= self.most {
            let last = taken.has_least_claim()?;
            taken.connections.remove(&last);
        }
        let (end, ended) = oneshot::channel();
        let number = taken.next;
        taken.next += 1;
        let connection = Connection {
            client,
            answering: false,
            waits_since: None,
            _end: end,
        };
        taken.connections.insert(number, connection);
        let places = Arc::clone(self);
        Some((Arc::new(Place { number, places }), ended))
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// Returns the connection that has kept the server waiting longest, of the client that has most connections: a
    /// client with many slow connections takes places from itself only.
    fn has_least_claim(&self) -> Option<u64> {
        let mut of_client = HashMap::<IpAddr, usize>::new();
        for connection in self.connections.values() {
            *of_client.entry(connection.client).or_default() += 1;
        }
        let waiting = self.connections.iter().filter_map(|(number, connection)| {
            let most = of_client.get(&connection.client).copied();
            Some((most, connection.waits_since?, *number))
        });
        let (.., last) =
            waiting.max_by(|one, other| one.0.cmp(&other.0).then(other.1.cmp(&one.1)))?;
        Some(last)
    }
}

impl Place {
    /// A request has come whole.
    pub fn answers(&self) {
        self.change(|connection| {
            connection.answering = true;
            connection.waits_since = None;
        });
    }

    /// The answer is made, though some of it may still have to be sent.
    pub fn has_answered(&self) {
        self.change(|connection| connection.answering = false);
    }

    /// The client has sent nothing that can be read.
    pub fn waits_to_read(&self) {
        self.change(|connection| {
            if !connection.answering {
                connection.waits_since.get_or_insert_with(Instant::now);
            }
        });
    }

    /// The client does not take what is to be written.
    pub fn waits_to_write(&self) {
        self.change(|connection| {
            connection.waits_since.get_or_insert_with(Instant::now);
        });
    }

    /// The client has taken some of what is to be written.
    pub fn has_written(&self) {
        self.change(|connection| connection.waits_since = None);
    }

    fn change(&self, change: impl FnOnce(&mut Connection)) {
        let mut taken = self.places.lock();
        let Some(connection) = taken.connections.get_mut(&self.number) else {
            return;
        };
        let waited = connection.waits_since.is_some();
        change(connection);
        if !waited && connection.waits_since.is_some() {
            self.places.changed.notify_one();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().connections.remove(&self.number);
        self.places.changed.notify_one();
    }
}
