//! Text that is costly to make: made for whoever asks, by one thread, and used for a while.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::{mpsc, oneshot};

/// So long a text serves, and ten times as long as it took to make: reading costs a tenth of the time at most.
const FRESH: Duration = Duration::from_secs(1);
const REST: u32 = 10;
/// Who waits for the next one.
const MOST_WAITING: usize = 1024;

type Text = Result<Bytes, String>;

/// Prometheus' text format.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A thread that reads, with the privileges of the one that began it, and what it read last.
#[derive(Clone, Debug)]
pub struct Reading(mpsc::Sender<oneshot::Sender<Text>>);

impl Reading {
    /// The first one is made at once. The thread ends with the last copy of this.
    pub fn start(
        name: &str,
        mut read: impl FnMut() -> Result<String, String> + Send + 'static,
    ) -> io::Result<Self> {
        let (ask, mut asked) = mpsc::channel::<oneshot::Sender<Text>>(MOST_WAITING);
        let name = name.to_owned();
        thread::Builder::new().name(name).spawn(move || {
            let mut make = || {
                let begin = Instant::now();
                let text = read().map(Bytes::from);
                let end = Instant::now();
                (text, end + FRESH.max((end - begin) * REST))
            };
            let (mut text, mut until) = make();
            while let Some(asker) = asked.blocking_recv() {
                if Instant::now() > until {
                    (text, until) = make();
                }
                // It may have gone away.
                let _ = asker.send(text.clone());
            }
        })?;
        Ok(Self(ask))
    }

    async fn get(&self) -> Text {
        let (asker, answer) = oneshot::channel();
        let gone = || "nobody reads any more".to_owned();
        self.0.send(asker).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

/// `/metrics`.
pub fn metrics(reading: Reading) -> Router {
    Router::new().route(
        "/metrics",
        get(move || async move { answer(reading.get().await) }),
    )
}

fn answer(text: Text) -> Response {
    match text {
        Ok(text) => ([(header::CONTENT_TYPE, METRICS)], text).into_response(),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, why + "\n").into_response(),
    }
}
