//! Datagrams that a sink sends, as plain as they can be.

use hostint::model::{
    Body, DropSummary, Flags, FlowKey, HwId, NodeId, Observation, Report, ReportVersion, Vlans,
};

use crate::report_samples;

/// A loss that a sink reports in v0.5, the default format.
pub fn loss_at(sink: u32, sequence: u32) -> Vec<u8> {
    let loss = DropSummary {
        version: ReportVersion::V05,
        time_s: 1,
        source_node: NodeId(1),
        sink_node: NodeId(sink),
        source_port: 0,
        sink_port: 0,
        gap_time_s: 0,
        before_seq: 0,
        count: 1,
        flow: FlowKey {
            src: [192, 0, 2, 1].into(),
            dst: [192, 0, 2, 2].into(),
            sport: 1,
            dport: 2,
            protocol: 17,
            vlans: Vlans::default(),
        },
    };
    let report = Report {
        sequence,
        observation: Observation {
            hw_id: HwId::default(),
            flags: Flags::default(),
            clock: None,
            body: Body::DropSummary(loss),
        },
    };
    report_samples::datagram(&report)
}
