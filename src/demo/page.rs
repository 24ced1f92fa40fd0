//! The collector's page for the user's browser: bytes are copied between a port of the user's loopback interface and the
//! collector, whose network namespace no browser reaches.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use super::network::DemoNetwork;
use crate::os::privileges;

/// The port of the page, as of any collector.
pub const PAGE_PORT: u16 = 13277;

/// The most connections at a time.
const MOST: usize = 64;

/// Takes the port of the page, or any other if that is taken.
pub fn bind() -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, PAGE_PORT))
        .or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
}

/// Serves what the right host serves at that port of its loopback interface, and returns where.
pub fn serve(network: &DemoNetwork) -> io::Result<SocketAddr> {
    let listener = bind()?;
    let address = listener.local_addr()?;
    network.right.enter(|| {
        // Threads stay in the network namespace of the one that starts them, and so do the sockets that they make.
        thread::Builder::new().spawn(move || -> io::Result<()> {
            privileges::keep_only(&[])?;
            let places = Arc::new(());
            for client in listener.incoming().flatten() {
                let place = Arc::clone(&places);
                if Arc::strong_count(&places) <= MOST + 1 {
                    thread::Builder::new().spawn(move || {
                        // A connection that breaks is the browser's business.
                        let _ = copy(&client);
                        drop(place);
                    })?;
                }
            }
            Ok(())
        })
    })?;
    Ok(address)
}

fn copy(client: &TcpStream) -> io::Result<()> {
    let server = &TcpStream::connect((Ipv4Addr::LOCALHOST, PAGE_PORT))?;
    thread::scope(|scope| {
        scope.spawn(|| copy_one_way(client, server));
        copy_one_way(server, client);
    });
    Ok(())
}

fn copy_one_way(mut from: &TcpStream, mut to: &TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}
