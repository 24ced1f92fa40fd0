//! Any echo of a lease question and any probe is refused or read, and an answer of any fields is read as it was written.
#![no_main]

use std::net::{IpAddr, Ipv6Addr};

use hostint::model::{
    Capabilities, ClockState, ClockSteering, FullAnswer, LeaseKey, LeaseWitness, Marks, NodeId,
};
use hostint::wire::lease::name::{self, NameMessage, NameReceipt};
use hostint::wire::lease::message::{self, LeaseEcho};
use hostint::wire::lease::probe;
use libfuzzer_sys::fuzz_target;

/// Numbers taken from the input; 0 behind its end.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn next(&mut self) -> u64 {
        let (taken, rest) = self.0.split_at(self.0.len().min(8));
        self.0 = rest;
        taken
            .iter()
            .fold(0, |all, byte| all << 8 | u64::from(*byte))
    }

    fn wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

fn answer(numbers: &mut Numbers<'_>) -> FullAnswer {
    let flags = numbers.next();
    FullAnswer {
        witness: LeaseWitness {
            astray: flags & 1 != 0,
            untold: flags & 2 != 0,
            digest: numbers.next() as u32,
            stripped: [numbers.next() as u32, numbers.next() as u32, 7],
            lost: numbers.next() as u32,
            answered_ns: numbers.next(),
        },
        instance: numbers.next(),
        node: NodeId(numbers.next() as u32),
        capabilities: Capabilities::from_bits(numbers.next() as u32),
        marks: Marks {
            tos_value: flags as u8,
            tos_mask: (flags >> 8) as u8,
            extension_port: (flags >> 16) as u16,
        },
        clock: ClockState::from_bits((flags >> 32) as u8),
        clock_steering: ClockSteering::from_bits((flags >> 24) as u8),
        mtu: (flags >> 40) as u16,
        tai_offset_s: numbers.next() as i16,
        software: (0, (flags >> 56) as u8),
        // Those of int-md are behind the stray packets in their place.
        arrived: [
            numbers.wide(),
            numbers.wide(),
            0,
            u128::from(u32::MAX),
            numbers.wide() >> 32,
        ],
        tos_changed: [flags as u8, (flags >> 4) as u8, 0, u8::MAX, 0],
    }
}

fuzz_target!(|input: &[u8]| {
    let key = LeaseKey::default();
    let addr = IpAddr::V6(Ipv6Addr::LOCALHOST);
    if let Err(error) = message::decode_echo(input, key) {
        let _ = error.to_string();
    }
    if let Err(error) = probe::decode(input, probe::MAGIC, (addr, addr), key) {
        let _ = error.to_string();
    }
    if let Err(error) = name::decode(input, addr, addr, key) {
        let _ = error.to_string();
    }
    let mut numbers = Numbers(input);
    let told = NameMessage {
        receipt: NameReceipt {
            nonce: numbers.next(),
            answered_ns: numbers.next(),
        },
        instance: numbers.next(),
        node: NodeId(numbers.next() as u32),
        is_answer: numbers.next() & 1 != 0,
        name: String::from_utf8_lossy(numbers.0).into_owned(),
    };
    let bytes = name::encode(&told, addr, addr, key);
    let read = name::decode(&bytes, addr, addr, key).expect("it was just written");
    assert_eq!(name::encode(&read, addr, addr, key), bytes);
    let mut question = [0; message::FULL_LEN];
    question[..4].copy_from_slice(b"hint");
    question[7] = 2;
    let written = answer(&mut Numbers(input));
    let bytes = message::encode_full_answer(&question, &written, key);
    match message::decode_echo(&bytes, key) {
        Ok(LeaseEcho::Full(echo)) => assert_eq!(echo.answer, Some(written)),
        other => panic!("{other:?}"),
    }
    let question = question.first_chunk().expect("longer than a short one");
    let bytes = message::encode_short_answer(question, &written.witness, key);
    match message::decode_echo(&bytes, key) {
        Ok(LeaseEcho::Short(echo)) => assert_eq!(echo.answer, Some(written.witness)),
        other => panic!("{other:?}"),
    }
});
