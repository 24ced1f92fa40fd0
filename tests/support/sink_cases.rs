//! Cases for the sink: a packet, and its fate.

use hostint::datapath::abi::{sink_counter, sink_flow};

use super::frame::Frame;
use super::int_block::Block;
use super::model;
use super::model::sink::{Seen, Tagged};
use super::numbers::another;
use super::programs::sink::{Sink, Sizes, XDP_PASS, model_of, settings};
use super::programs::source::TCX_NEXT;

pub fn int() -> Block {
    Block::hostint().node(2).sequence(1)
}

pub fn extension() -> Block {
    Block::hostint_extension().node(2).sequence(1)
}

/// The payload's first word makes the checksum zero; UDP writes 0xffff then.
pub fn with_zero_checksum(frame: Frame) -> Frame {
    let mut payload = vec![0; 64];
    let bytes = frame.clone().payload_bytes(payload.clone()).bytes();
    let at = if bytes[23] == 6 { 50 } else { 40 };
    payload[..2].copy_from_slice(&bytes[at..at + 2]);
    let frame = frame.payload_bytes(payload);
    let check = u16::from_be_bytes(frame.bytes()[at..at + 2].try_into().unwrap());
    assert!(matches!(check, 0 | 0xffff), "the checksum is zero");
    frame
}

/// What becomes of a packet.
pub enum Outcome {
    Untouched,
    Refused(sink_counter),
    Stripped(Vec<u8>),
    StrippedFromHostInt(Vec<u8>),
}

pub struct Case {
    pub name: &'static str,
    pub frame: Vec<u8>,
    pub outcome: Outcome,
}

pub fn untouched(name: &'static str, frame: Frame) -> Case {
    Case {
        name,
        frame: frame.bytes(),
        outcome: Outcome::Untouched,
    }
}

pub fn refused(name: &'static str, reason: sink_counter, frame: Frame) -> Case {
    Case {
        name,
        frame: frame.bytes(),
        outcome: Outcome::Refused(reason),
    }
}

/// A packet whose INT is taken out; what remains is the packet as it was built before the INT.
pub fn stripped(name: &'static str, frame: Frame) -> Case {
    Case {
        name,
        frame: frame.bytes(),
        outcome: Outcome::Stripped(frame.untagged().bytes()),
    }
}

/// Runs the packet as the first of a flow, then further ones, and compares verdict, bytes, counters, flow table and events.
pub fn check(sink: &Sink, model: &model::sink::Sink, case: &Case) {
    let Case {
        name,
        frame,
        outcome,
    } = case;
    sink.forget_flows();
    sink.zero_counters();
    sink.events();
    let ran = sink.run(frame);

    let (bytes, counted) = match outcome {
        Outcome::Untouched => (frame, vec![]),
        Outcome::Refused(reason) => (frame, vec![*reason]),
        Outcome::Stripped(bytes) => (bytes, vec![sink_counter::COUNT_SINK_RECEIVED]),
        Outcome::StrippedFromHostInt(bytes) => (
            bytes,
            vec![
                sink_counter::COUNT_SINK_RECEIVED,
                sink_counter::COUNT_SINK_HOST_INT,
            ],
        ),
    };
    assert_eq!(ran.verdict, XDP_PASS, "{name}: verdict");
    assert_eq!(ran.bytes, *bytes, "{name}: bytes");

    let is_tagged = matches!(
        outcome,
        Outcome::Stripped(_) | Outcome::StrippedFromHostInt(_)
    );
    let mut expected = vec![(0, 0); sink_counter::COUNT_SINK_MAX.0 as usize];
    for reason in counted {
        expected[reason.0 as usize] = (1, frame.len() as u64);
    }
    if is_tagged {
        expected[sink_counter::COUNT_SINK_FLOW_NEW.0 as usize] = (1, 0);
        expected[sink_counter::COUNT_SINK_EVENT_SENT.0 as usize] = (1, 0);
    }
    assert_eq!(sink.counters(), expected, "{name}: counters");
    assert_eq!(sink.flows(), usize::from(is_tagged), "{name}: flows");
    assert_eq!(
        sink.events().len(),
        usize::from(is_tagged),
        "{name}: events"
    );

    match (model.look(frame), outcome) {
        (Seen::Untouched, Outcome::Untouched) => {}
        (Seen::Refused(seen), Outcome::Refused(reason)) => {
            assert_eq!(seen, *reason, "{name}: the model's reason");
        }
        (Seen::Tagged(tagged), Outcome::Stripped(bytes) | Outcome::StrippedFromHostInt(bytes)) => {
            assert_eq!(tagged.restored, *bytes, "{name}: the model's bytes");
            check_further(sink, case, &tagged, bytes);
        }
        (seen, _) => panic!("{name}: the model says {seen:?}"),
    }
}

/// The flow's next packets, which may take the straight way, come out in the same way.
fn check_further(sink: &Sink, case: &Case, tagged: &Tagged, bytes: &[u8]) {
    let (name, has_vlan) = (case.name, case.frame[12] == 0x81 || case.frame[12] == 0x88);
    let first = sink.flow(&tagged.key).expect("the flow is known");
    for (hook, further) in [("XDP", 1), ("TC", 2), ("XDP", 3), ("TC", 4)] {
        let next = another(&case.frame, tagged, further, None);
        sink.zero_counters();
        // BPF_PROG_RUN takes tags in the frame for what they are not.
        let (ran, passes) = match hook == "TC" && !has_vlan {
            true => (sink.run_tc(&next), TCX_NEXT),
            false => (sink.run(&next), XDP_PASS),
        };
        let sentence = format!("{name}: number {further} further at {hook}");
        assert_eq!(ran.verdict, passes, "{sentence}: verdict");
        assert_eq!(ran.bytes, *bytes, "{sentence}: bytes");
        let mut expected = vec![(0, 0); sink_counter::COUNT_SINK_MAX.0 as usize];
        expected[sink_counter::COUNT_SINK_RECEIVED.0 as usize] = (1, next.len() as u64);
        if tagged.by_host_int {
            expected[sink_counter::COUNT_SINK_HOST_INT.0 as usize] = (1, next.len() as u64);
        }
        assert_eq!(sink.counters(), expected, "{sentence}: counters");
        let flow = sink.flow(&tagged.key).expect("the flow is known");
        let expected = sink_flow {
            head: first.head.wrapping_add(further),
            packets: first.packets + u64::from(further),
            bytes: first.bytes * u64::from(further + 1),
            earned_bytes: first.earned_bytes * u64::from(further + 1),
            ..first
        };
        let facts = |flow: &sink_flow| {
            let sums = (flow.packets, flow.bytes, flow.earned_bytes);
            let source = (flow.source_node, flow.source_port, flow.encapsulation);
            (flow.head, flow.awaited, sums, source, flow.ifindex)
        };
        assert_eq!(facts(&flow), facts(&expected), "{sentence}: record");
    }
}

pub fn check_all(cases: Vec<Case>) {
    let settings = settings();
    let model = model_of(&settings);
    for atomics in [true, false] {
        let sizes = Sizes {
            atomics,
            tc: true,
            ..Sizes::default()
        };
        let sink = Sink::load_sized(&settings, sizes);
        for case in &cases {
            check(&sink, &model, case);
        }
    }
}
