//! A thread that serves HTTP.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;

use axum::Router;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    #[error("cannot listen on {address}: {source}")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("cannot begin to serve HTTP: {0}")]
    Begin(#[from] io::Error),
}

/// A bound address: bound before privileges are given up, served after.
#[derive(Debug)]
pub struct Listener(TcpListener);

/// Serves until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    pub fn bind(address: SocketAddr) -> Result<Self, WebError> {
        let listen = || {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            Ok(Self(listener))
        };
        listen().map_err(|source| WebError::Listen { address, source })
    }

    /// Begins to serve, on a thread of its own.
    pub fn serve(self, routes: Router) -> Result<Server, WebError> {
        let address = self.0.local_addr()?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (end, ended) = oneshot::channel::<()>();
        let thread = std::thread::Builder::new()
            .name("http".to_owned())
            .spawn(move || {
                runtime.block_on(async move {
                    let Ok(listener) = tokio::net::TcpListener::from_std(self.0) else {
                        return;
                    };
                    // Connections that are open end with the runtime.
                    tokio::select! {
                        _ = axum::serve(listener, routes).into_future() => {}
                        _ = ended => {}
                    }
                });
            })?;
        Ok(Server {
            address,
            end: Some(end),
            thread: Some(thread),
        })
    }
}

impl Server {
    /// The address bound, with the port that the kernel chose where 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
