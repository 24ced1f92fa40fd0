//! The information elements of each kind of record, in their order. Both templates and records are made of them.
//!
//! Numbers are those of IANA's registry "IPFIX Information Elements" (RFC 7012). The four elements of path delay come
//! from RFC 9951 and are 530 to 533 in the registry since 2026-04-02; its drafts had no numbers, so other numbers
//! belong to experiments. They count microseconds. Nanoseconds would need enterprise-specific elements, and those a
//! Private Enterprise Number, which this project does not have.

use std::net::IpAddr;

use super::record::{FlowRecord, RecordFigures};

const NS_PER_MS: u64 = 1_000_000;
const NS_PER_US: u64 = 1000;

const OCTET_DELTA_COUNT: u16 = 1;
const PACKET_DELTA_COUNT: u16 = 2;
const DELTA_FLOW_COUNT: u16 = 3;
const PROTOCOL_IDENTIFIER: u16 = 4;
const SOURCE_TRANSPORT_PORT: u16 = 7;
const SOURCE_IPV4_ADDRESS: u16 = 8;
const INGRESS_INTERFACE: u16 = 10;
const DESTINATION_TRANSPORT_PORT: u16 = 11;
const DESTINATION_IPV4_ADDRESS: u16 = 12;
const EGRESS_INTERFACE: u16 = 14;
const SOURCE_IPV6_ADDRESS: u16 = 27;
const DESTINATION_IPV6_ADDRESS: u16 = 28;
const EXPORTED_OCTET_TOTAL_COUNT: u16 = 40;
const EXPORTED_MESSAGE_TOTAL_COUNT: u16 = 41;
const EXPORTED_FLOW_RECORD_TOTAL_COUNT: u16 = 42;
const VLAN_ID: u16 = 58;
const FORWARDING_STATUS: u16 = 89;
const DROPPED_PACKET_DELTA_COUNT: u16 = 133;
const EXPORTING_PROCESS_ID: u16 = 144;
const FLOW_ID: u16 = 148;
const OBSERVATION_DOMAIN_ID: u16 = 149;
const FLOW_START_MILLISECONDS: u16 = 152;
const FLOW_END_MILLISECONDS: u16 = 153;
const NOT_SENT_FLOW_TOTAL_COUNT: u16 = 166;
const DOT1Q_CUSTOMER_VLAN_ID: u16 = 245;
const PATH_DELAY_MEAN_DELTA_MICROSECONDS: u16 = 530;
const PATH_DELAY_MIN_DELTA_MICROSECONDS: u16 = 531;
const PATH_DELAY_MAX_DELTA_MICROSECONDS: u16 = 532;
const PATH_DELAY_SUM_DELTA_MICROSECONDS: u16 = 533;

/// The statistics of the exporting process so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Statistics {
    pub(super) domain: u32,
    pub(super) process: u32,
    pub(super) messages: u64,
    pub(super) records: u64,
    pub(super) octets: u64,
    /// The number of reports that are in no record and never will be.
    pub(super) not_sent: u64,
}

/// The numbers of options templates. 256 is the first free number.
pub(super) const STATISTICS: u16 = 256;
pub(super) const RELIABILITY: u16 = 257;
const FIRST_FLOW: u16 = 258;

/// Returns the number of a record's template.
pub(super) fn template_of(record: &FlowRecord) -> u16 {
    let kind = match record.figures {
        RecordFigures::Seen => 0,
        RecordFigures::Delay { .. } => 1,
        RecordFigures::Loss { .. } => 2,
        RecordFigures::Traffic { .. } => 3,
    };
    FIRST_FLOW + 2 * kind + u16::from(!is_v4(record))
}

fn is_v4(record: &FlowRecord) -> bool {
    record.flow.src.is_ipv4() && record.flow.dst.is_ipv4()
}

/// Passes all elements of a record with their values to `put`.
pub(super) fn elements(record: &FlowRecord, mut put: impl FnMut(u16, &[u8])) {
    let flow = &record.flow;
    put(FLOW_ID, &record.id.to_be_bytes());
    let ms = |ns: u64| (ns / NS_PER_MS).to_be_bytes();
    put(FLOW_START_MILLISECONDS, &ms(record.first_ns));
    put(FLOW_END_MILLISECONDS, &ms(record.last_ns));
    match (flow.src, flow.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            put(SOURCE_IPV4_ADDRESS, &src.octets());
            put(DESTINATION_IPV4_ADDRESS, &dst.octets());
        }
        (src, dst) => {
            put(SOURCE_IPV6_ADDRESS, &v6_octets(src));
            put(DESTINATION_IPV6_ADDRESS, &v6_octets(dst));
        }
    }
    put(SOURCE_TRANSPORT_PORT, &flow.sport.to_be_bytes());
    put(DESTINATION_TRANSPORT_PORT, &flow.dport.to_be_bytes());
    put(PROTOCOL_IDENTIFIER, &[flow.protocol]);
    // vlanId is used instead of dot1qVlanId, because both nfdump and pmacct know it.
    let (tag, customer) = match (flow.vlans.outer, flow.vlans.inner) {
        (0, inner) => (inner, 0),
        both => both,
    };
    put(VLAN_ID, &tag.to_be_bytes());
    put(DOT1Q_CUSTOMER_VLAN_ID, &customer.to_be_bytes());
    let node = |node: Option<crate::model::NodeId>| node.map_or(0, |node| node.0).to_be_bytes();
    put(INGRESS_INTERFACE, &node(record.source));
    put(EGRESS_INTERFACE, &node(record.sink));
    put(DELTA_FLOW_COUNT, &record.reports.to_be_bytes());
    match record.figures {
        RecordFigures::Seen => {}
        RecordFigures::Delay {
            min_ns,
            max_ns,
            sum_ns,
        } => {
            let mean_ns = sum_ns / record.reports.max(1);
            let short = |ns: u64| u32::try_from(us(ns)).unwrap_or(u32::MAX).to_be_bytes();
            put(PATH_DELAY_MEAN_DELTA_MICROSECONDS, &short(mean_ns));
            put(PATH_DELAY_MIN_DELTA_MICROSECONDS, &short(min_ns));
            put(PATH_DELAY_MAX_DELTA_MICROSECONDS, &short(max_ns));
            put(PATH_DELAY_SUM_DELTA_MICROSECONDS, &us(sum_ns).to_be_bytes());
        }
        RecordFigures::Loss { packets, status } => {
            put(DROPPED_PACKET_DELTA_COUNT, &packets.to_be_bytes());
            put(FORWARDING_STATUS, &[status]);
        }
        RecordFigures::Traffic { packets, octets } => {
            put(PACKET_DELTA_COUNT, &packets.to_be_bytes());
            put(OCTET_DELTA_COUNT, &octets.to_be_bytes());
        }
    }
}

fn v6_octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

/// Returns microseconds, rounded to the nearest.
fn us(ns: u64) -> u64 {
    ns / NS_PER_US + u64::from(ns % NS_PER_US >= NS_PER_US / 2)
}

/// Passes the elements of RFC 7011, 4.1 to `put`. The first element is the scope.
pub(super) fn statistics(now: &Statistics, mut put: impl FnMut(u16, &[u8])) {
    put(OBSERVATION_DOMAIN_ID, &now.domain.to_be_bytes());
    put(EXPORTED_MESSAGE_TOTAL_COUNT, &now.messages.to_be_bytes());
    put(EXPORTED_FLOW_RECORD_TOTAL_COUNT, &now.records.to_be_bytes());
    put(EXPORTED_OCTET_TOTAL_COUNT, &now.octets.to_be_bytes());
}

/// Passes the elements of RFC 7011, 4.3 to `put`. The first element is the scope.
pub(super) fn reliability(now: &Statistics, mut put: impl FnMut(u16, &[u8])) {
    put(EXPORTING_PROCESS_ID, &now.process.to_be_bytes());
    put(NOT_SENT_FLOW_TOTAL_COUNT, &now.not_sent.to_be_bytes());
}
