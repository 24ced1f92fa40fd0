//! IPFIX Messages (RFC 7011, 3): header, sets, records.

use super::record::FlowRecord;
use super::template::{
    RELIABILITY, STATISTICS, Statistics, elements, reliability, statistics, template_of,
};

const VERSION: u16 = 10;
const HEADER_BYTES: usize = 16;
const SET_HEADER_BYTES: usize = 4;
const TEMPLATE_SET: u16 = 2;
const OPTIONS_TEMPLATE_SET: u16 = 3;

/// Sets are padded to whole words. Padding has to be shorter than the shortest record, and it is.
const WORD: usize = 4;

/// The values that all messages of a parcel share.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageFrame {
    pub(super) most_bytes: usize,
    /// Seconds since the Unix epoch.
    pub(super) time_s: u32,
    /// The number of Data Records that the session had before.
    pub(super) sequence: u32,
    /// Templates are repeated after this many messages.
    pub(super) refresh: usize,
}

/// Passes elements with their values to a function.
type Elements<'a> = &'a dyn Fn(&mut dyn FnMut(u16, &[u8]));

/// One message.
#[derive(Debug)]
pub(super) struct IpfixMessage {
    pub(super) bytes: Vec<u8>,
    /// The Data Records of flows.
    pub(super) flows: u32,
    /// All Data Records, including those of the exporting process.
    pub(super) records: u32,
}

/// Returns the messages of a parcel. Templates come before the records that they describe, and the records of the
/// exporting process come before those of flows.
pub(super) fn messages(
    flows: &[FlowRecord],
    now: &Statistics,
    frame: MessageFrame,
) -> Vec<IpfixMessage> {
    let mut sorted: Vec<_> = flows.iter().collect();
    sorted.sort_by_key(|record| template_of(record));
    let mut templates = sorted.clone();
    templates.dedup_by_key(|record| template_of(record));
    let mut writer = MessageWriter {
        frame,
        domain: now.domain,
        done: Vec::new(),
        bytes: Vec::new(),
        set: None,
        flows: 0,
        records: 0,
    };
    writer.begin();
    let mut reported_at = 0;
    writer.report_templates(&templates, now);
    writer.report_process(now);
    let mut record_bytes = Vec::new();
    for record in sorted {
        if writer.done.len() - reported_at >= frame.refresh {
            reported_at = writer.done.len();
            writer.report_templates(&templates, now);
        }
        record_bytes.clear();
        elements(record, |_, value| record_bytes.extend_from_slice(value));
        writer.add(template_of(record), &record_bytes);
        writer.flows += 1;
        writer.records += 1;
    }
    writer.end();
    writer.done
}

struct MessageWriter {
    frame: MessageFrame,
    domain: u32,
    done: Vec<IpfixMessage>,
    /// The present message.
    bytes: Vec<u8>,
    /// The number and the place of its last set.
    set: Option<(u16, usize)>,
    flows: u32,
    records: u32,
}

impl MessageWriter {
    fn begin(&mut self) {
        self.bytes = Vec::with_capacity(self.frame.most_bytes);
        self.put16(VERSION);
        self.put16(0);
        self.put32(self.frame.time_s);
        self.put32(self.frame.sequence);
        self.put32(self.domain);
    }

    fn end(&mut self) {
        self.end_set();
        self.put_length(2, 0);
        self.frame.sequence = self.frame.sequence.wrapping_add(self.records);
        self.done.push(IpfixMessage {
            bytes: std::mem::take(&mut self.bytes),
            flows: std::mem::take(&mut self.flows),
            records: std::mem::take(&mut self.records),
        });
    }

    fn begin_set(&mut self, number: u16) {
        if self.set.is_some_and(|(open, _)| open == number) {
            return;
        }
        self.end_set();
        self.set = Some((number, self.bytes.len()));
        self.put16(number);
        self.put16(0);
    }

    fn end_set(&mut self) {
        if let Some((_, place)) = self.set.take() {
            let padded = self.bytes.len().next_multiple_of(WORD);
            self.bytes.resize(padded, 0);
            self.put_length(place + 2, place);
        }
    }

    fn put16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    fn put32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    /// Writes the number of bytes from `from` on at `place`.
    fn put_length(&mut self, place: usize, from: usize) {
        // No message is longer than its length field allows.
        let length = (self.bytes.len() - from) as u16;
        if let Some(field) = self.bytes.get_mut(place..place + 2) {
            field.copy_from_slice(&length.to_be_bytes());
        }
    }

    /// Adds the templates of the flows' records and the two of the exporting process.
    fn report_templates(&mut self, flows: &[&FlowRecord], now: &Statistics) {
        let scoped = |number, each: Elements<'_>| template(number, 1, each);
        let own = [
            scoped(STATISTICS, &|put| statistics(now, put)),
            scoped(RELIABILITY, &|put| reliability(now, put)),
        ];
        for record in own {
            self.add(OPTIONS_TEMPLATE_SET, &record);
            // pmacct 1.7.7 reads the first template of such a set only, and takes the rest for damaged.
            self.end_set();
        }
        for flow in flows {
            let record = template(template_of(flow), 0, &|put| elements(flow, put));
            self.add(TEMPLATE_SET, &record);
        }
    }

    fn report_process(&mut self, now: &Statistics) {
        let mut record = Vec::new();
        statistics(now, |_, value| record.extend_from_slice(value));
        self.add(STATISTICS, &record);
        self.records += 1;
        record.clear();
        reliability(now, |_, value| record.extend_from_slice(value));
        self.add(RELIABILITY, &record);
        self.records += 1;
    }

    /// Adds a record, to the next message if this one has no room for it.
    fn add(&mut self, set: u16, record: &[u8]) {
        let mut end = self.bytes.len() + record.len();
        if self.set.is_none_or(|(open, _)| open != set) {
            end = end.next_multiple_of(WORD) + SET_HEADER_BYTES;
        }
        let empty = self.bytes.len() == HEADER_BYTES;
        if end.next_multiple_of(WORD) > self.frame.most_bytes && !empty {
            self.end();
            self.begin();
        }
        self.begin_set(set);
        self.bytes.extend_from_slice(record);
    }
}

/// Returns a template of the elements that `each` passes. The first `scopes` are the scope of an options template.
fn template(number: u16, scopes: u16, each: Elements<'_>) -> Vec<u8> {
    let mut specifiers = Vec::new();
    let mut count: u16 = 0;
    each(&mut |element, value| {
        count += 1;
        specifiers.extend_from_slice(&element.to_be_bytes());
        specifiers.extend_from_slice(&(value.len() as u16).to_be_bytes());
    });
    let mut record = Vec::new();
    record.extend_from_slice(&number.to_be_bytes());
    record.extend_from_slice(&count.to_be_bytes());
    if scopes > 0 {
        record.extend_from_slice(&scopes.to_be_bytes());
    }
    record.extend_from_slice(&specifiers);
    record
}
