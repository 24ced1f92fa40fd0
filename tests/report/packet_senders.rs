//! Reports in the name of other hosts are numbered for each of them, and bounded.

use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use hostint::report::packet_senders::{PacketSenders, SENDER_IDLE};
use hostint::report::socket::Sockets;

fn six(last: u16) -> IpAddr {
    IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last])
}

#[test]
fn a_host_without_ipv6_loses_and_counts_what_would_need_it() {
    let mut senders = PacketSenders::new(9);
    let none = Sockets::default();
    senders.send(SocketAddr::new(six(1), 9), &none, &mut []);
    let counts = senders.counts();
    assert_eq!((counts.sent, counts.lost_by_cause.unreachable), (0, 1));
}

#[test]
fn a_full_table_refuses_new_senders_until_old_ones_were_idle() {
    let mut senders = PacketSenders::new(1);
    senders.limit = 2;
    let start = Instant::now();
    let [a, b, c] = [IpAddr::from([10, 0, 0, 1]), six(2), six(3)];
    assert_eq!(senders.next_number(a, start), Some(1));
    assert_eq!(senders.next_number(b, start), Some(1));
    assert_eq!(senders.next_number(a, start), Some(2));
    assert_eq!(senders.next_number(c, start), None, "no room");
    let later = start + SENDER_IDLE;
    assert_eq!(senders.next_number(b, later), Some(2), "known ones go on");
    assert_eq!(senders.next_number(c, later), Some(1), "a was idle");
    assert_eq!(senders.next_number(a, later), None, "a was forgotten");
    let counts = senders.counts();
    assert_eq!((counts.forgotten, counts.senders), (1, 2));
}
