//! Live news: one line to each open page whenever there are new reports.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::responses::HttpRefusal;
use super::state::Api;

/// Most pages that receive news at once.
pub(super) const MOST: usize = 32;

const TICK: Duration = Duration::from_secs(1);

/// The interval between signs of life, which reveal closed connections.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

pub(super) fn places() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(MOST))
}

pub(super) async fn live(State(api): State<Arc<Api>>) -> Response {
    let Ok(place) = Arc::clone(&api.live).try_acquire_owned() else {
        return HttpRefusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            &format!("{MOST} pages already receive live news (close one, or reload by hand)"),
        )
        .into_response();
    };
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let news = News {
        api,
        ticks,
        sent: None,
        _place: place,
    };
    let alive = KeepAlive::new().interval(SIGN_OF_LIFE);
    Sse::new(news).keep_alive(alive).into_response()
}

/// The stream of news to one page.
struct News {
    api: Arc<Api>,
    ticks: Interval,
    /// Reports, stored reports and reporting hosts that the page got last.
    sent: Option<(u64, u64, usize)>,
    _place: OwnedSemaphorePermit,
}

impl Stream for News {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while self.ticks.poll_tick(context).is_ready() {
            let status = self.api.status();
            let now = (status.reports, status.stored, status.hosts_reporting);
            if self.sent == Some(now) {
                continue;
            }
            self.sent = Some(now);
            let news = format!(
                "{{\"reports\":{},\"stored\":{},\"hosts_reporting\":{}}}",
                now.0, now.1, now.2
            );
            return Poll::Ready(Some(Ok(Event::default().event("news").data(news))));
        }
        Poll::Pending
    }
}
