//! A proxy that takes TCP connections which a router leads to it, and makes one of its own to where each was to go.

use std::io::copy;
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::socket::{getsockopt, setsockopt, sockopt};

use crate::netns::Host;

pub struct Proxy {
    host: Host,
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    accepts: Option<JoinHandle<()>>,
}

/// Where a client wanted to connect: before redirection, or with the address that it took for the server's.
fn destination(client: &TcpStream) -> Option<SocketAddr> {
    let local = client.local_addr().ok()?;
    let Ok(before) = getsockopt(client, sockopt::OriginalDst) else {
        return Some(local);
    };
    let address = IpAddr::V4(Ipv4Addr::from(u32::from_be(before.sin_addr.s_addr)));
    Some(SocketAddr::new(address, u16::from_be(before.sin_port)))
}

fn pass_on(mut from: TcpStream, mut to: TcpStream) {
    let _ = copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

impl Proxy {
    pub fn start(host: &Host, port: u16) -> Self {
        let address = SocketAddr::from(([0, 0, 0, 0], port));
        let listener = host.enter(|| TcpListener::bind(address)).unwrap();
        setsockopt(&listener, sockopt::IpTransparent, &true).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let accepts = std::thread::spawn({
            let (host, stop) = (host.clone(), stop.clone());
            move || {
                for client in listener.incoming().flatten() {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let host = host.clone();
                    std::thread::spawn(move || serve(&host, client));
                }
            }
        });
        Self {
            host: host.clone(),
            address,
            stop,
            accepts: Some(accepts),
        }
    }
}

fn serve(host: &Host, client: TcpStream) {
    let Some(to) = destination(&client) else {
        return;
    };
    let patience = Duration::from_secs(10);
    let Ok(server) = host.enter(|| TcpStream::connect_timeout(&to, patience)) else {
        return;
    };
    for one in [&client, &server] {
        let _ = one.set_nodelay(true);
    }
    let (Ok(from), Ok(back)) = (client.try_clone(), server.try_clone()) else {
        return;
    };
    let answers = std::thread::spawn(move || pass_on(back, from));
    pass_on(client, server);
    let _ = answers.join();
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.host.enter(|| {
            let to = SocketAddr::from(([127, 0, 0, 1], self.address.port()));
            TcpStream::connect(to)
        });
        if let Some(accepts) = self.accepts.take() {
            let _ = accepts.join();
        }
    }
}
