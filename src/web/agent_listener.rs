//! The socket at which a daemon answers the agent that started it, and no other process.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// How long to wait if no connection can be accepted, for lack of descriptors for instance.
pub(super) const REST: Duration = Duration::from_millis(100);

/// A bound abstract address, which needs no folder and goes with the process.
#[derive(Debug)]
pub struct AgentListener {
    listener: UnixListener,
    /// The agent's process.
    agent: i32,
}

impl AgentListener {
    pub fn bind(name: &str, agent: i32) -> io::Result<Self> {
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, agent })
    }

    /// Answers for as long as this is awaited.
    pub(super) async fn serve(self, routes: Router) {
        let Ok(listener) = tokio::net::UnixListener::from_std(self.listener) else {
            return;
        };
        let mut connections = JoinSet::new();
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    // The kernel names the process: others see an end of the connection.
                    let peer = stream.peer_cred().ok().and_then(|peer| peer.pid());
                    if peer == Some(self.agent) {
                        let routes = TowerToHyperService::new(routes.clone());
                        let served =
                            http1::Builder::new().serve_connection(TokioIo::new(stream), routes);
                        connections.spawn(async move { drop(served.await) });
                    }
                }
                Err(_) => sleep(REST).await,
            }
            while connections.try_join_next().is_some() {}
        }
    }
}
