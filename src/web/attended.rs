//! The routes of one connection: they tell its place when a request is being answered.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Request, Response};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;

use super::places::Place;

/// Routes for the requests of one connection.
pub struct AttendedRoutes {
    routes: TowerToHyperService<Router>,
    place: Arc<Place>,
}

impl AttendedRoutes {
    pub fn new(routes: Router, place: Arc<Place>) -> Self {
        Self {
            routes: TowerToHyperService::new(routes),
            place,
        }
    }
}

impl Service<Request<Incoming>> for AttendedRoutes {
    type Response = Response<AttendedBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.place.answers();
        let answering = Answering(Arc::clone(&self.place));
        let response = self.routes.call(request);
        Box::pin(async move {
            let response = response.await?;
            Ok(response.map(|body| AttendedBody {
                body,
                _answering: answering,
            }))
        })
    }
}

/// A request is being answered until this is dropped.
struct Answering(Arc<Place>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.has_answered();
    }
}

/// The body of a response.
pub struct AttendedBody {
    body: Body,
    _answering: Answering,
}

impl HttpBody for AttendedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
