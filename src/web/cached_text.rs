//! Text that is expensive to make: one thread makes it on request, and it is reused for a while.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::{mpsc, oneshot};

/// A text is reused for this time, and for ten times as long as it took to make, so that making it takes at most a
/// tenth of the time.
const FRESH: Duration = Duration::from_secs(1);
const REST: u32 = 10;
/// Most requests that wait for the next text.
const MOST_WAITING: usize = 1024;

type TextResult = Result<Bytes, String>;

/// Prometheus' text format.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A thread that makes the text, with the privileges of the thread that started it, and keeps the last result.
#[derive(Clone, Debug)]
pub struct CachedText(mpsc::Sender<oneshot::Sender<TextResult>>);

impl CachedText {
    /// Makes the first text at once. The thread ends when the last copy of this value is dropped.
    pub fn start(
        name: &str,
        mut read: impl FnMut() -> Result<String, String> + Send + 'static,
    ) -> io::Result<Self> {
        let (ask, mut asked) = mpsc::channel::<oneshot::Sender<TextResult>>(MOST_WAITING);
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
                // The receiver may have gone away.
                let _ = asker.send(text.clone());
            }
        })?;
        Ok(Self(ask))
    }

    async fn get(&self) -> TextResult {
        let (asker, answer) = oneshot::channel();
        let gone = || "the metrics can no longer be read".to_owned();
        self.0.send(asker).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

/// The route `/metrics`.
pub fn metrics(reading: CachedText) -> Router {
    Router::new().route(
        "/metrics",
        get(move || async move { answer(reading.get().await) }),
    )
}

fn answer(text: TextResult) -> Response {
    match text {
        Ok(text) => ([(header::CONTENT_TYPE, METRICS)], text).into_response(),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, why + "\n").into_response(),
    }
}
