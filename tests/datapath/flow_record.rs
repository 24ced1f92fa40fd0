//! The sink's record of a flow keeps what each packet touches in few cache lines.

use std::mem::offset_of;

use hostint::datapath::abi::{flow_key, sink_flow, sink_flow_shape};

/// The kernel puts this many bytes before the key of a hash table's element.
const ELEMENT_HEADER: usize = 48;
const LINE: usize = 64;

#[test]
fn what_each_packet_touches_lies_in_the_hot_part() {
    let hot = sink_flow_shape::SINK_FLOW_HOT.0 as usize;
    for (field, end) in [
        ("lock", offset_of!(sink_flow, lock) + 4),
        ("head", offset_of!(sink_flow, head) + 4),
        ("awaited", offset_of!(sink_flow, awaited) + 4),
        ("last_ns", offset_of!(sink_flow, last_ns) + 8),
        ("allowed_until", offset_of!(sink_flow, allowed_until) + 4),
        ("allowed_serial", offset_of!(sink_flow, allowed_serial) + 4),
        ("report_ns", offset_of!(sink_flow, report_ns) + 8),
        ("packets", offset_of!(sink_flow, packets) + 8),
        ("bytes", offset_of!(sink_flow, bytes) + 8),
        ("earned_bytes", offset_of!(sink_flow, earned_bytes) + 8),
        ("latency_sum_ns", offset_of!(sink_flow, latency_sum_ns) + 8),
        ("latency_min_ns", offset_of!(sink_flow, latency_min_ns) + 4),
        ("latency_max_ns", offset_of!(sink_flow, latency_max_ns) + 4),
        ("smooth", offset_of!(sink_flow, latency_smooth_ns) + 4),
        ("source_node", offset_of!(sink_flow, source_node) + 4),
        ("source_port", offset_of!(sink_flow, source_port) + 2),
        ("bucket", offset_of!(sink_flow, bucket) + 1),
        ("encapsulation", offset_of!(sink_flow, encapsulation) + 1),
        ("ifindex", offset_of!(sink_flow, ifindex) + 4),
        ("reports", offset_of!(sink_flow, reports) + 4),
        ("fine_slots", offset_of!(sink_flow, fine_slots) + 4),
        ("told_packets", offset_of!(sink_flow, told_packets) + 4),
        ("first_ns", offset_of!(sink_flow, first_ns) + 8),
    ] {
        assert!(end <= hot, "{field} ends at {end}");
    }
    assert_eq!(
        offset_of!(sink_flow, head) % 8,
        0,
        "head and awaited change in one store"
    );
    assert_eq!(
        offset_of!(sink_flow, awaited),
        offset_of!(sink_flow, head) + 4
    );
}

#[test]
fn all_records_lie_alike_in_their_cache_lines() {
    let before = ELEMENT_HEADER + size_of::<flow_key>();
    assert_eq!((before + size_of::<sink_flow>()) % LINE, 0);
    assert_eq!(
        size_of::<sink_flow>(),
        sink_flow_shape::SINK_FLOW_SIZE.0 as usize
    );
    let line_of = |offset: usize| (before + offset) / LINE;
    let key = (before - 1) / LINE;
    assert_eq!(
        line_of(offset_of!(sink_flow, report_ns) + 7),
        key,
        "what decides about a packet shares a line with the key"
    );
    assert_eq!(
        line_of(offset_of!(sink_flow, fine_slots) + 3),
        key + 1,
        "what it counts is in the next line"
    );
}
