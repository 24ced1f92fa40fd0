//! A webhook: texts that a receiver gets as they come. Nothing waits for it, and what it does not take is given up.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::answer::Trouble;
use super::http::HttpClient;

/// The time that a receiver has.
pub const WEBHOOK_PATIENCE: Duration = Duration::from_secs(5);
/// Texts that wait.
const MOST_WAITING: usize = 16;

/// What is done with the outcome of each delivery.
pub type Delivered = Box<dyn Fn(Result<(), String>) + Send + Sync>;

/// The way to the thread that delivers. It ends with its process: nothing waits for it at the end, either.
pub struct Webhook {
    texts: SyncSender<Vec<u8>>,
    delivered: Arc<Delivered>,
}

impl Webhook {
    /// # Errors
    /// The system's certificates are unusable, or there is no thread.
    pub fn start(url: &str, delivered: Delivered) -> Result<Self, String> {
        let client = HttpClient::with_patience(url, Vec::new(), WEBHOOK_PATIENCE)?;
        let (texts, waiting) = sync_channel::<Vec<u8>>(MOST_WAITING);
        let delivered = Arc::new(delivered);
        let outcome = Arc::clone(&delivered);
        let thread = thread::Builder::new().name("webhook".to_owned());
        let started = thread.spawn(move || {
            for text in waiting {
                outcome(deliver(&client, &text));
            }
        });
        started.map_err(|err: io::Error| format!("cannot start a thread: {err}"))?;
        Ok(Self { texts, delivered })
    }

    /// Hands on a text, or gives it up if too many wait.
    pub fn send(&self, text: Vec<u8>) {
        if self.texts.try_send(text).is_err() {
            (self.delivered)(Err(format!("{MOST_WAITING} others wait already")));
        }
    }
}

fn deliver(client: &HttpClient, text: &[u8]) -> Result<(), String> {
    let answer = client.post("", "application/json", text);
    let answer = answer.map_err(|trouble| match trouble {
        Trouble::Later(why) | Trouble::Refused(why) => why,
    })?;
    match answer.status {
        200..300 => Ok(()),
        _ => Err(format!("{} says {}", client.url(), answer.said())),
    }
}
