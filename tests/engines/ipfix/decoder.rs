//! A plain reader of IPFIX messages, after RFC 7011, which shares no code with the engine.

use std::collections::BTreeMap;

/// The elements that tests ask for, by their numbers in IANA's registry.
pub const OCTETS: u16 = 1;
pub const PACKETS: u16 = 2;
pub const REPORTS: u16 = 3;
pub const PROTOCOL: u16 = 4;
pub const SPORT: u16 = 7;
pub const SRC4: u16 = 8;
pub const SOURCE: u16 = 10;
pub const DPORT: u16 = 11;
pub const DST4: u16 = 12;
pub const SINK: u16 = 14;
pub const SRC6: u16 = 27;
pub const DST6: u16 = 28;
pub const EXPORTED_MESSAGES: u16 = 41;
pub const EXPORTED_RECORDS: u16 = 42;
pub const VLAN: u16 = 58;
pub const STATUS: u16 = 89;
pub const DROPPED: u16 = 133;
pub const FLOW_ID: u16 = 148;
pub const START_MS: u16 = 152;
pub const END_MS: u16 = 153;
pub const NOT_SENT: u16 = 166;
pub const CUSTOMER_VLAN: u16 = 245;
pub const MEAN_US: u16 = 530;
pub const MIN_US: u16 = 531;
pub const MAX_US: u16 = 532;
pub const SUM_US: u16 = 533;

/// A record's elements.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct DataRecord(pub BTreeMap<u16, Vec<u8>>);

impl DataRecord {
    pub fn bytes(&self, element: u16) -> &[u8] {
        let found = self.0.get(&element);
        found.unwrap_or_else(|| panic!("no element {element}: {self:?}"))
    }

    pub fn has(&self, element: u16) -> bool {
        self.0.contains_key(&element)
    }

    pub fn number(&self, element: u16) -> u64 {
        let bytes = self.bytes(element).iter();
        bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// If it has the element.
    pub fn maybe(&self, element: u16) -> Option<u64> {
        self.has(element).then(|| self.number(element))
    }
}

/// What one transport session told.
#[derive(Debug, Default)]
pub struct Session {
    templates: BTreeMap<u16, Template>,
    pub domain: Option<u32>,
    pub messages: usize,
    /// How many messages had templates.
    pub with_templates: usize,
    pub flows: Vec<DataRecord>,
    pub options: Vec<DataRecord>,
    /// Data Records as the first sequence number and those behind it tell.
    next_sequence: Option<u32>,
    /// Data Records that its numbers say are missing.
    pub missing: u32,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Template {
    fields: Vec<(u16, usize)>,
    scopes: usize,
}

fn be16(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]))
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

impl Session {
    /// Reads a whole message; panics at anything that the RFC does not allow.
    pub fn read(&mut self, message: &[u8]) {
        assert_eq!(be16(message, 0), 10, "version");
        assert_eq!(be16(message, 2), message.len(), "length");
        let sequence = be32(message, 8);
        let expected = self.next_sequence.unwrap_or(sequence);
        self.missing += sequence.wrapping_sub(expected);
        assert!(self.missing < 1 << 31, "sequence numbers only grow");
        let domain = be32(message, 12);
        assert_eq!(*self.domain.get_or_insert(domain), domain);
        self.messages += 1;
        let before = self.flows.len() + self.options.len();
        let mut told_templates = false;
        let mut at = 16;
        assert!(message.len() > at, "a message has a set");
        while at < message.len() {
            let (number, length) = (be16(message, at), be16(message, at + 2));
            assert!(length > 4, "a set has a record");
            assert_eq!(length % 4, 0, "sets are padded");
            let set = &message[at + 4..at + length];
            match number {
                2 => self.read_templates(set, false),
                3 => self.read_templates(set, true),
                256.. => self.read_data(number as u16, set),
                _ => panic!("set {number}"),
            }
            told_templates |= number < 4;
            at += length;
        }
        self.with_templates += usize::from(told_templates);
        let records = (self.flows.len() + self.options.len() - before) as u32;
        self.next_sequence = Some(sequence.wrapping_add(records));
    }

    fn read_templates(&mut self, set: &[u8], options: bool) {
        let mut at = 0;
        while at + 4 <= set.len() {
            let (number, count) = (be16(set, at), be16(set, at + 2));
            assert!(number >= 256 && count > 0);
            at += 4;
            let mut scopes = 0;
            if options {
                scopes = be16(set, at);
                assert!((1..=count).contains(&scopes));
                at += 2;
            }
            let fields = (0..count).map(|n| {
                let (element, length) = (be16(set, at + 4 * n), be16(set, at + 4 * n + 2));
                assert!(element < 1 << 15, "no enterprise's elements");
                assert!((1..65535).contains(&length), "no variable length");
                (element as u16, length)
            });
            let fields = fields.collect();
            at += 4 * count;
            let template = Template { fields, scopes };
            let before = self.templates.insert(number as u16, template.clone());
            assert!(before.is_none_or(|before| before == template), "{number}");
        }
        assert!(set[at..].iter().all(|byte| *byte == 0), "padding");
    }

    fn read_data(&mut self, number: u16, set: &[u8]) {
        let template = self.templates.get(&number);
        let template = template.unwrap_or_else(|| panic!("template {number} was told before"));
        let size: usize = template.fields.iter().map(|(_, length)| length).sum();
        let records = set.chunks_exact(size);
        let padding = records.remainder();
        assert!(padding.len() < 4 && padding.iter().all(|byte| *byte == 0));
        for record in records {
            let mut rest = record;
            let mut values = BTreeMap::new();
            for (element, length) in &template.fields {
                let (value, behind) = rest.split_at(*length);
                assert!(values.insert(*element, value.to_vec()).is_none());
                rest = behind;
            }
            match template.scopes {
                0 => self.flows.push(DataRecord(values)),
                _ => self.options.push(DataRecord(values)),
            }
        }
    }

    /// Reads a TCP connection's messages, the last of which may lack its end.
    pub fn read_stream(&mut self, mut stream: &[u8]) {
        while stream.len() >= 16 && stream.len() >= be16(stream, 2) {
            let (message, rest) = stream.split_at(be16(stream, 2));
            self.read(message);
            stream = rest;
        }
    }
}

/// The messages of a stream.
pub fn split(mut stream: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    while !stream.is_empty() {
        let (message, rest) = stream.split_at(be16(stream, 2));
        messages.push(message.to_vec());
        stream = rest;
    }
    messages
}

/// Sums over records, each of which counts once, however often it came.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Sums {
    pub records: u64,
    pub reports: u64,
    pub delays: u64,
    pub delay_us: u64,
    pub dropped: u64,
    pub packets: u64,
    pub octets: u64,
}

impl Sums {
    pub fn of<'a>(records: impl IntoIterator<Item = &'a DataRecord>) -> Self {
        let mut by_id: BTreeMap<u64, &DataRecord> = BTreeMap::new();
        for record in records {
            let before = by_id.insert(record.number(FLOW_ID), record);
            let same = before.is_none_or(|before| before == record);
            assert!(same, "one ID is one record: {before:?}, {record:?}");
        }
        let mut sums = Self::default();
        for record in by_id.values() {
            sums.records += 1;
            sums.reports += record.number(REPORTS);
            if let Some(us) = record.maybe(SUM_US) {
                sums.delays += record.number(REPORTS);
                sums.delay_us += us;
            }
            sums.dropped += record.maybe(DROPPED).unwrap_or(0);
            sums.packets += record.maybe(PACKETS).unwrap_or(0);
            sums.octets += record.maybe(OCTETS).unwrap_or(0);
        }
        sums
    }
}
