//! When more flows come than the tables hold, known flows keep all their samples and new flows pass unmeasured.
//!
//! HOSTINT_LONG=10000000 for as many invented flows.

use hostint::datapath::abi::{sink_counter, source_counter};
use hostint_testing::packets::udp;
use hostint_testing::programs::sink::{Sink, Sizes, settings};
use hostint_testing::programs::source::{Options, Source};
use hostint_testing::random::{Random, env_number};
use hostint_testing::stream::{SEQUENCE_AT, packet};

const KNOWN: u64 = 64;
const TABLE: u32 = 256;
/// Invented flows in a plain run.
const FLOOD: u64 = 200_000;
/// A packet of a known flow comes after so many invented ones.
const BETWEEN: u64 = 16;

// Places in a frame without VLAN tags.
const SADDR_AT: usize = 26;
const PORTS_AT: usize = 34;

/// A packet of another flow.
fn of_flow(frame: &[u8], saddr: u32, ports: u32) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[SADDR_AT..SADDR_AT + 4].copy_from_slice(&saddr.to_be_bytes());
    frame[PORTS_AT..PORTS_AT + 4].copy_from_slice(&ports.to_be_bytes());
    frame
}

/// Known flows have these, invented ones never.
fn known(frame: &[u8], flow: u64) -> Vec<u8> {
    of_flow(frame, 0x0a00_0001, 0x1000_0000 | flow as u32)
}

fn invented(frame: &[u8], random: &mut Random) -> Vec<u8> {
    // To a port that announces no INT.
    let ports = random.u32() & 0xffff_0000 | 7000;
    of_flow(frame, random.u32() | 0x8000_0000, ports)
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn invented_flows_push_no_real_one_out_of_a_sink() {
        let (mut random, seed) = Random::from_env();
        let flood = env_number("HOSTINT_LONG", FLOOD);
        let sink = Sink::load_sized(
            &settings(),
            Sizes {
                flows: TABLE,
                ..Sizes::default()
            },
        );
        let frame = packet();
        let mut numbers = vec![0u32; KNOWN as usize];
        let mut next = |sink: &Sink, flow: u64| {
            let number = &mut numbers[flow as usize];
            *number += 1;
            let mut packet = known(&frame, flow);
            packet[SEQUENCE_AT..SEQUENCE_AT + 4].copy_from_slice(&number.to_be_bytes());
            let ran = sink.run(&packet);
            assert_eq!(ran.bytes.len() + 36, packet.len(), "stripped");
        };
        for flow in 0..KNOWN {
            next(&sink, flow);
        }
        sink.events();
        sink.zero_counters();
        for n in 0..flood {
            let packet = invented(&frame, &mut random);
            let ran = sink.run(&packet);
            assert_eq!(
                ran.bytes.len() + 36,
                packet.len(),
                "seed {seed}: an invented one passes as it was sent"
            );
            if n % BETWEEN == 0 {
                next(&sink, n / BETWEEN % KNOWN);
            }
            if n % 1024 == 0 {
                sink.events();
            }
        }
        let count = |which| sink.count(which);
        let real = flood.div_ceil(BETWEEN);
        let room = u64::from(TABLE) - KNOWN;
        assert_eq!(sink.flows(), TABLE as usize, "the table is full");
        assert_eq!(count(sink_counter::COUNT_SINK_RECEIVED), flood + real);
        assert_eq!(count(sink_counter::COUNT_SINK_UNTRACKED), flood - room);
        let told = sink.unmeasured();
        let all: u64 = told.iter().map(|(_, packets, _)| packets).sum();
        assert_eq!(all, flood - room, "each one is told by flow or by node");
        let flows = told.iter().filter(|(key, ..)| key.flow().is_some());
        let flows = flows.count() as u64;
        assert!(
            flows >= (flood - room).min(16_000) && flows < 17_000,
            "{flows} have room"
        );
        assert_eq!(count(sink_counter::COUNT_SINK_FLOW_NEW), room);
        for lost in [
            sink_counter::COUNT_SINK_LOST,
            sink_counter::COUNT_SINK_REORDERED,
            sink_counter::COUNT_SINK_DUPLICATE,
        ] {
            assert_eq!(count(lost), 0, "{lost:?}: known flows are counted exactly");
        }
    }

    #[test]
    fn a_flood_of_new_flows_leaves_those_that_are_known_tagged_at_a_source() {
        let (mut random, seed) = Random::from_env();
        let flood = env_number("HOSTINT_LONG", FLOOD);
        let source = Source::load(&Options {
            flows: TABLE,
            ..Options::default()
        });
        let frame = udp().bytes();
        for flow in 0..KNOWN {
            source.run(&known(&frame, flow));
        }
        source.zero_counters();
        let mut tagged = 0;
        for n in 0..flood {
            let packet = invented(&frame, &mut random);
            let ran = source.run(&packet);
            let untouched = ran.bytes == packet;
            assert!(
                untouched || ran.bytes.len() == packet.len() + 36,
                "seed {seed}: untouched or tagged"
            );
            if n % BETWEEN == 0 {
                let packet = known(&frame, n / BETWEEN % KNOWN);
                let ran = source.run(&packet);
                assert_eq!(ran.bytes.len(), packet.len() + 36, "a known one is tagged");
                tagged += 1;
            }
        }
        let count = |which: source_counter| source.counters()[which.0 as usize].0;
        let room = u64::from(TABLE) - KNOWN;
        assert_eq!(count(source_counter::COUNT_SOURCE_TAGGED), tagged + room);
        assert_eq!(count(source_counter::COUNT_SOURCE_TABLE_FULL), flood - room);
    }
}
