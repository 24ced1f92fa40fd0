//! Questions in datagrams, which a server answers with other bytes of the same length.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use super::{Kind, Log, Outcome};
use crate::conversation::byte_at;
use crate::netns::Host;

/// Even and odd, and with IP, UDP and INT no longer than a link of 1,280 bytes.
const LONGEST: u64 = 1200;
const PERIOD: Duration = Duration::from_millis(40);
/// An answer that comes later is lost.
const PATIENCE: Duration = Duration::from_secs(1);

/// A datagram tells its number, and has another length each time.
fn datagram(number: u64) -> Vec<u8> {
    let len = 8 + number % (1 << 32) * 37 % (LONGEST - 7);
    let mut bytes = number.to_be_bytes().to_vec();
    bytes.extend((8..len).map(|place| byte_at(number, place)));
    bytes
}

/// The number of a datagram that came as it was sent.
fn check(bytes: &[u8]) -> Option<u64> {
    let number = u64::from_be_bytes(*bytes.first_chunk()?);
    (datagram(number) == bytes).then_some(number)
}

/// The number of the answer to a question.
fn answer(number: u64) -> u64 {
    number ^ 1 << 63
}

pub(super) fn serve(socket: &UdpSocket, kind: Kind, log: &Log) {
    let mut buffer = [0; 2048];
    while !log.is_stopped() {
        let Ok((len, from)) = socket.recv_from(&mut buffer) else {
            continue;
        };
        log.arrive(kind, from.ip());
        match check(&buffer[..len]) {
            // The client counts an answer that is not sent.
            Some(number) => drop(socket.send_to(&datagram(answer(number)), from)),
            None => {
                let what = format!("a question of {len} bytes came changed");
                log.add(kind, log.now(), Outcome::Changed(what));
            }
        }
    }
}

/// Flows that stay, and one that has another port each time.
pub(super) fn ask(from: &Host, to: SocketAddr, kind: Kind, log: &Arc<Log>) -> Vec<JoinHandle<()>> {
    let flows = if kind == Kind::Question { 3 } else { 2 };
    (0..flows)
        .map(|flow| {
            let (from, log) = (from.clone(), log.clone());
            let changes_port = flow == 0;
            std::thread::spawn(move || {
                let open = || connected(&from, to);
                let mut socket = open();
                let mut number = (flow as u64) << 32;
                while !log.is_stopped() {
                    let at = log.now();
                    if changes_port {
                        socket = open();
                    }
                    number += 1;
                    let outcome = ask_once(&socket, number, &log);
                    if log.is_stopped() && matches!(outcome, Outcome::Lost(_)) {
                        return;
                    }
                    log.add(kind, at, outcome);
                    std::thread::sleep(PERIOD.saturating_sub(log.now() - at));
                }
            })
        })
        .collect()
}

fn connected(from: &Host, to: SocketAddr) -> UdpSocket {
    let socket = from.enter(|| UdpSocket::bind("0.0.0.0:0")).unwrap();
    socket.connect(to).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    socket
}

fn ask_once(socket: &UdpSocket, number: u64, log: &Log) -> Outcome {
    let began = log.now();
    // A refusal of an earlier datagram, by ICMP, is told now.
    if socket
        .send(&datagram(number))
        .or_else(|_| socket.send(&datagram(number)))
        .is_err()
    {
        return Outcome::Lost("it cannot be sent".into());
    }
    let mut buffer = [0; 2048];
    while log.now() - began < PATIENCE {
        match socket.recv(&mut buffer).map(|len| check(&buffer[..len])) {
            Ok(Some(found)) if found == answer(number) => return Outcome::Whole,
            // A late one.
            Ok(Some(_)) => {}
            Ok(None) => return Outcome::Changed("an answer came changed".into()),
            Err(_) => {}
        }
    }
    Outcome::Lost("no answer".into())
}
