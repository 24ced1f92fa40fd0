//! Orders to a fleet: their bytes, whose they are, and when they are obeyed.

use std::net::IpAddr;

use hostint::model::OrderVerdict::{Known, Obeyed, Replayed, Untimely};
use hostint::model::{FleetOrder, LeaseKey, ORDER_NS};
use hostint::wire::lease::LeaseError;
use hostint::wire::lease::order::{OrderMessage, decode, encode};

const NOW: u64 = 1_700_000_000_000_000_000;

fn off(epoch: u64, ordered_ns: u64) -> FleetOrder {
    FleetOrder {
        is_off: true,
        epoch,
        ordered_ns,
    }
}

#[test]
fn an_order_is_obeyed_once_and_soon() {
    let last = off(5, NOW);
    let on = FleetOrder {
        is_off: false,
        ..last
    };
    for (sentence, order, expected) in [
        ("a later one", off(6, NOW), Obeyed),
        ("the same, by another host", last, Known),
        ("another one with its epoch", on, Replayed),
        (
            "the same epoch with another time",
            off(5, NOW - 1),
            Replayed,
        ),
        ("an earlier one", off(4, NOW), Replayed),
        ("one that is just in time", off(6, NOW - ORDER_NS), Obeyed),
        ("one that is too old", off(6, NOW - ORDER_NS - 1), Untimely),
        ("one of the future", off(6, NOW + ORDER_NS + 1), Untimely),
        ("the same, too late", off(5, NOW - ORDER_NS - 1), Untimely),
    ] {
        assert_eq!(order.judge(last, NOW), expected, "{sentence}");
    }
    let next = FleetOrder::next(false, off(NOW + 7, NOW), NOW);
    assert_eq!(
        next.epoch,
        NOW + 8,
        "higher than any before, whatever the clock is"
    );
    assert_eq!(FleetOrder::next(true, last, NOW).epoch, NOW);
}

#[test]
fn its_bytes_are_those_of_the_manual_and_only_the_key_makes_them() {
    let [from, to, other]: [IpAddr; 3] =
        ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|addr| addr.parse().unwrap());
    let key = LeaseKey([7; 16]);
    let message = OrderMessage {
        order: off(0x0102, 0x0304),
        is_answer: true,
    };
    let bytes = encode(&message, from, to, key);
    let head = "68696e6f000000010000000000000102000000000000030400000003000000";
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(hex.starts_with(head), "{hex}");
    assert_eq!(decode(&bytes, from, to, key), Ok(message));
    for (sentence, from, to, key) in [
        ("another sender", other, to, key),
        ("another receiver", from, other, key),
        ("another key", from, to, LeaseKey([8; 16])),
    ] {
        let found = decode(&bytes, from, to, key);
        assert_eq!(
            found,
            Err(LeaseError::Forged { nonce: 0x0102 }),
            "{sentence}"
        );
    }
    for at in 8..bytes.len() {
        let mut changed = bytes;
        changed[at] ^= 1;
        assert!(decode(&changed, from, to, key).is_err(), "byte {at}");
    }
    assert!(decode(&bytes[..39], from, to, key).is_err(), "cut");
}
