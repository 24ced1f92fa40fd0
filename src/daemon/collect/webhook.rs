//! The webhook of the verdict: each change goes there, failures are counted, and said once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow};

use super::board::Board;
use crate::model::NetworkVerdict;
use crate::os::log;
use crate::views::history_verdict::VERDICT_SCHEMA;

/// Hands a verdict to a webhook.
pub type TellWebhook = Box<dyn Fn(&NetworkVerdict) + Send>;

/// Counts and says what became of a delivery.
fn delivered(board: &Board, fails: &AtomicBool, outcome: Result<(), String>) {
    let mut status = board.lock();
    match outcome {
        Ok(()) => {
            status.webhook_sent += 1;
            fails.store(false, Ordering::Relaxed);
        }
        Err(why) => {
            status.webhook_failed += 1;
            drop(status);
            if !fails.swap(true, Ordering::Relaxed) {
                log::warning(format_args!(
                    "the webhook did not get a verdict: {why}; further failures are only counted until one is taken"
                ));
            }
        }
    }
}

fn body(verdict: &NetworkVerdict) -> Vec<u8> {
    let body = serde_json::json!({ "schema": VERDICT_SCHEMA, "verdict": verdict });
    serde_json::to_vec(&body).unwrap_or_default()
}

/// Starts the thread that posts to a URL.
///
/// # Errors
/// If this hostint cannot, or the system's certificates are unusable.
#[cfg(feature = "http-client")]
pub fn start(url: &str, board: &Arc<Board>) -> Result<TellWebhook> {
    use crate::engines::webhook::Webhook;
    let (board, fails) = (Arc::clone(board), AtomicBool::new(false));
    let delivered = Box::new(move |outcome| delivered(&board, &fails, outcome));
    let webhook = Webhook::start(url, delivered)
        .map_err(|why| anyhow!("cannot use the webhook {url}: {why}"))?;
    Ok(Box::new(move |verdict| webhook.send(body(verdict))))
}

/// The same of a hostint without an HTTP client.
#[cfg(not(feature = "http-client"))]
pub fn start(url: &str, _board: &Arc<Board>) -> Result<TellWebhook> {
    let _ = (delivered, body);
    Err(anyhow!(
        "cannot use the webhook {url}: this hostint was built without an HTTP client"
    ))
}
