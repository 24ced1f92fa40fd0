//! A thread that serves HTTP.

use std::future::{Future, pending};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use nix::sys::socket::{Backlog, listen};
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::{JoinSet, yield_now};

use super::agent_listener::{AgentListener, REST};
use super::attended::AttendedRoutes;
use super::places::Places;
use super::timed_stream::TimedStream;
use crate::model::PlainError;

/// Most open connections. A further one takes the place of one whose client keeps the server waiting; it waits itself
/// only if all of them are being answered.
pub const MOST_CONNECTIONS: usize = 128;
/// Most connections that the kernel keeps until they are accepted. Beyond them, a client tries again after a second.
const MOST_WAITING: i32 = 1024;
/// How long a client may take for a request, and between two requests.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// Greatest length of a request's head.
pub const LONGEST_REQUEST: usize = 16 * 1024;
/// How long the end waits for a response that is being made.
const LAST_ANSWER: Duration = Duration::from_secs(1);

/// Why HTTP cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    #[error("cannot listen on {address}: {}", PlainError(.reason))]
    Listen {
        address: SocketAddr,
        reason: io::Error,
    },
    #[error("cannot start to serve HTTP: {0}")]
    Begin(#[from] io::Error),
}

/// A bound address for everybody, one for the agent, or both. They are bound before privileges are given up, and served
/// afterwards.
#[derive(Debug)]
pub struct HttpListener {
    open: Option<TcpListener>,
    agent: Option<AgentListener>,
}

/// Serves HTTP until it is dropped.
#[derive(Debug)]
pub struct HttpServer {
    address: Option<SocketAddr>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl HttpListener {
    pub fn bind(address: SocketAddr) -> Result<Self, WebError> {
        let bind = || {
            let listener = TcpListener::bind(address)?;
            listen(&listener, Backlog::new(MOST_WAITING)?)?;
            listener.set_nonblocking(true)?;
            Ok(Self {
                open: Some(listener),
                agent: None,
            })
        };
        bind().map_err(|reason| WebError::Listen { address, reason })
    }

    /// Answers the agent, and everybody if there is an address for that.
    pub fn with_agent(open: Option<Self>, agent: AgentListener) -> Self {
        Self {
            open: open.and_then(|listener| listener.open),
            agent: Some(agent),
        }
    }

    /// The address bound for everybody, with the port that the kernel chose where 0 was asked for.
    pub fn address(&self) -> io::Result<Option<SocketAddr>> {
        self.open.as_ref().map(TcpListener::local_addr).transpose()
    }

    /// Starts to serve on a thread of its own, which has the privileges of the calling thread.
    pub fn serve(self, routes: Router) -> Result<HttpServer, WebError> {
        let address = self.address()?;
        let Self { open, agent } = self;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (end, ended) = oneshot::channel::<()>();
        let thread = std::thread::Builder::new()
            .name("http".to_owned())
            .spawn(move || {
                runtime.block_on(async move {
                    let open = open.map(|open| accept(open, routes.clone()));
                    let agent = agent.map(|agent| agent.serve(routes));
                    // Open connections end with the runtime.
                    tokio::select! {
                        () = if_any(open) => {}
                        () = if_any(agent) => {}
                        _ = ended => {}
                    }
                });
                runtime.shutdown_timeout(LAST_ANSWER);
            })?;
        Ok(HttpServer {
            address,
            end: Some(end),
            thread: Some(thread),
        })
    }
}

/// Without a listener there is nothing to wait for, and the others go on.
async fn if_any(serving: Option<impl Future<Output = ()>>) {
    match serving {
        Some(serving) => serving.await,
        None => pending().await,
    }
}

async fn accept(listener: TcpListener, routes: Router) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let places = Places::new(MOST_CONNECTIONS);
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, client)) => {
                let (place, ended) = places.take(client.ip()).await;
                let stream = TimedStream::new(stream, PATIENCE, place.clone());
                let routes = AttendedRoutes::new(routes.clone(), place);
                connections.spawn(async move {
                    tokio::select! {
                        () = serve(stream, routes) => {}
                        _ = ended => {}
                    }
                });
                // A connection that made room is closed before the next one is accepted.
                yield_now().await;
            }
            Err(_) => tokio::time::sleep(REST).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TimedStream, routes: AttendedRoutes) {
    // If a client breaks the protocol, goes away or takes too long, only that client is affected.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(LONGEST_REQUEST)
        .serve_connection(TokioIo::new(stream), routes)
        .await;
}

impl HttpServer {
    /// The address bound for everybody, with the port that the kernel chose where 0 was asked for.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
