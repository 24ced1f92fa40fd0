//! The source's leases, in the map that the kernel half reads.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::BorrowedFd;

use crate::datapath::abi::{address_pair, lease_state, source_lease};
use crate::datapath::host::serial::Serial;
use crate::datapath::kernel::map_names::{SOURCE_LEASES, SOURCE_LEASES_SERIAL};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::events::{address, address_words};
use crate::model::{
    AddressPair, ClockState, Encapsulation, Encapsulations, Lease, LeaseAnswer, LeaseCounts,
    LeaseState, MOST_SHIFT, Marks, NodeId, PathProof, ProbeForms, SinkClock, Transport,
    TunnelObstacle, Ways,
};
use crate::os::clock;

/// The kernel's map of leases.
pub struct Leases {
    table: Map<address_pair, source_lease>,
    serial: Serial,
}

/// A lease, and the reason why it is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeaseEntry {
    pub lease: Lease,
    /// The user named the destination.
    pub named: bool,
    /// When a packet last asked for it (monotonic); 0 if none did.
    pub wanted_ns: u64,
    pub counts: LeaseCounts,
}

fn pair_of(key: &address_pair) -> AddressPair {
    AddressPair {
        source: address(key.saddr),
        dest: address(key.daddr),
    }
}

pub(in crate::datapath) fn key_of(pair: &AddressPair) -> address_pair {
    address_pair {
        saddr: address_words(pair.source),
        daddr: address_words(pair.dest),
    }
}

fn number_of(state: LeaseState) -> u32 {
    match state {
        LeaseState::Asking => lease_state::LEASE_ASKING,
        LeaseState::Granted => lease_state::LEASE_GRANTED,
        LeaseState::Silent => lease_state::LEASE_SILENT,
        LeaseState::NoSink => lease_state::LEASE_NO_SINK,
        LeaseState::Forged => lease_state::LEASE_FORGED,
        LeaseState::Encapsulation => lease_state::LEASE_ENCAPSULATION,
        LeaseState::Mark => lease_state::LEASE_MARK,
        LeaseState::OwnNode => lease_state::LEASE_OWN_NODE,
        LeaseState::Duplicate { .. } => lease_state::LEASE_DUPLICATE,
        LeaseState::Astray => lease_state::LEASE_ASTRAY,
    }
    .0
}

fn state_of(value: &source_lease) -> LeaseState {
    match lease_state(value.state) {
        lease_state::LEASE_GRANTED => LeaseState::Granted,
        lease_state::LEASE_SILENT => LeaseState::Silent,
        lease_state::LEASE_NO_SINK => LeaseState::NoSink,
        lease_state::LEASE_FORGED => LeaseState::Forged,
        lease_state::LEASE_ENCAPSULATION => LeaseState::Encapsulation,
        lease_state::LEASE_MARK => LeaseState::Mark,
        lease_state::LEASE_OWN_NODE => LeaseState::OwnNode,
        lease_state::LEASE_DUPLICATE => LeaseState::Duplicate {
            addr: address(value.other_addr),
        },
        lease_state::LEASE_ASTRAY => LeaseState::Astray,
        _ => LeaseState::Asking,
    }
}

pub(in crate::datapath) fn value_of(entry: &LeaseEntry) -> source_lease {
    let lease = &entry.lease;
    let answer = lease.answer;
    let clock = lease.clock;
    let proof = lease.proof;
    source_lease {
        until_ns: lease.until_ns,
        wanted_ns: entry.wanted_ns,
        answered_ns: lease.answered_ns,
        instance: answer.map_or(0, |answer| answer.instance),
        clock_ahead_ns: clock.map_or(0, |clock| clock.ahead_ns),
        clock_less_ns: clock.map_or(0, |clock| clock.less_ns),
        clock_more_ns: clock.map_or(0, |clock| clock.more_ns),
        clock_raw_ns: clock.map_or(0, |clock| clock.raw_ns),
        clock_drift: clock.map_or(0, |clock| clock.drift_ppb),
        rtt_ns: lease.rtt_ns,
        state: number_of(lease.state),
        sink_node: answer.map_or(0, |answer| answer.node.0),
        has_answer: answer.is_some().into(),
        other_addr: match lease.state {
            LeaseState::Duplicate { addr } => address_words(addr),
            _ => [0; 4],
        },
        encapsulations: answer.map_or(0, |answer| answer.encapsulations.bits()),
        tos_value: answer.map_or(0, |answer| answer.marks.tos_value),
        tos_mask: answer.map_or(0, |answer| answer.marks.tos_mask),
        clock: answer.map_or(0, |answer| answer.clock.bits()),
        extension_port: answer.map_or(0, |answer| answer.marks.extension_port),
        mtu: answer.map_or(0, |answer| answer.mtu),
        tai_offset_s: answer.map_or(0, |answer| answer.tai_offset_s),
        software: answer.map_or(0, |answer| u16::from_be_bytes(answer.software.into())),
        keep: entry.named.into(),
        items: proof.reads_items.into(),
        ways: proof.ways.bits(),
        eaten: proof.eaten.bits().into(),
        vouched_ns: proof.vouched_ns,
        proved_ns: proof.proved_ns,
        tos_changed: proof.tos_changed,
        longest: proof.longest,
        stack: proof.stack,
        segments: proof.udp_superpackets.into(),
        option_114: proof.option_114.into(),
        distrusted: proof.distrusted.into(),
        untold: proof.untold.into(),
        asked_shift: proof.asked_shift.into(),
        zero: 0,
        obstacle: proof.obstacle.number(),
        tagged: entry.counts.tagged,
        fallen: entry.counts.fallen,
        unseen_turns: entry.counts.unseen_turns,
    }
}

fn entry_of(value: &source_lease) -> LeaseEntry {
    let answer = LeaseAnswer {
        instance: value.instance,
        node: NodeId(value.sink_node),
        encapsulations: Encapsulations::from_bits(value.encapsulations),
        marks: Marks {
            tos_value: value.tos_value,
            tos_mask: value.tos_mask,
            extension_port: value.extension_port,
        },
        clock: ClockState::from_bits(value.clock),
        mtu: value.mtu,
        tai_offset_s: value.tai_offset_s,
        software: value.software.to_be_bytes().into(),
        answered_ns: 0,
    };
    LeaseEntry {
        lease: Lease {
            state: state_of(value),
            until_ns: value.until_ns,
            answered_ns: value.answered_ns,
            answer: (value.has_answer != 0).then_some(answer),
            rtt_ns: value.rtt_ns,
            clock: (value.clock_raw_ns != 0).then_some(SinkClock {
                raw_ns: value.clock_raw_ns,
                ahead_ns: value.clock_ahead_ns,
                less_ns: value.clock_less_ns,
                more_ns: value.clock_more_ns,
                drift_ppb: value.clock_drift,
            }),
            proof: proof_of(value),
        },
        named: value.keep != 0,
        wanted_ns: value.wanted_ns,
        counts: LeaseCounts {
            tagged: value.tagged,
            fallen: value.fallen,
            unseen_turns: value.unseen_turns,
        },
    }
}

fn proof_of(value: &source_lease) -> PathProof {
    PathProof {
        ways: Ways::from_bits(value.ways),
        eaten: ProbeForms::from_bits(value.eaten as u8),
        tos_changed: value.tos_changed,
        longest: value.longest,
        stack: value.stack,
        reads_items: value.items != 0,
        udp_superpackets: value.segments != 0,
        option_114: value.option_114 != 0,
        vouched_ns: value.vouched_ns,
        proved_ns: value.proved_ns,
        distrusted: value.distrusted != 0,
        untold: value.untold != 0,
        asked_shift: value.asked_shift.min(MOST_SHIFT) as u8,
        obstacle: TunnelObstacle::from_number(value.obstacle),
    }
}

impl Leases {
    /// Opens the leases of this host. Returns `None` if no source is set up.
    pub fn open(pins: &Pins) -> io::Result<Option<Self>> {
        let table = Map::open(&pins.map(SOURCE_LEASES))?;
        let serial = Map::open(&pins.map(SOURCE_LEASES_SERIAL))?;
        let both = table.zip(serial);
        Ok(both.map(|(table, serial)| Self::of(table, Serial::of(serial))))
    }

    pub fn of(table: Map<address_pair, source_lease>, serial: Serial) -> Self {
        Self { table, serial }
    }

    /// Returns second handles of the same maps.
    pub(in crate::datapath) fn share(&self) -> Self {
        Self::of(self.table.share(), self.serial.share())
    }

    pub(in crate::datapath) fn fd(&self) -> BorrowedFd<'_> {
        self.table.fd()
    }

    pub(in crate::datapath) fn serial_fd(&self) -> BorrowedFd<'_> {
        self.serial.fd()
    }

    /// True if both are handles of one map that was opened once.
    pub(in crate::datapath) fn is_same(&self, other: &Self) -> bool {
        self.table.is_same(&other.table)
    }

    /// The pairs whose destination reads and echoes TCP option 114, as their leases say.
    pub fn with_option_114(&self) -> io::Result<Vec<AddressPair>> {
        let now_ns = clock::monotonic_ns();
        let mut pairs = Vec::new();
        self.table.for_each(|key, value| {
            if value.option_114 != 0 && now_ns < value.until_ns {
                pairs.push(pair_of(&key));
            }
        })?;
        Ok(pairs)
    }

    /// The pairs whose connections may go in options, and the share of them that the sink asks for: one in two to the power of
    /// this.
    pub fn with_tcp_option(&self) -> io::Result<BTreeMap<AddressPair, u32>> {
        let way = Ways::of(Transport::Tcp, Encapsulation::Options).bits();
        let mut pairs = BTreeMap::new();
        self.table.for_each(|key, value| {
            if value.ways & way != 0 {
                pairs.insert(pair_of(&key), value.asked_shift);
            }
        })?;
        Ok(pairs)
    }

    /// Calls `visit` for each lease.
    pub fn for_each(&self, mut visit: impl FnMut(AddressPair, LeaseEntry)) -> io::Result<()> {
        self.table
            .for_each(|key, value| visit(pair_of(&key), entry_of(&value)))
    }

    pub fn get(&self, pair: &AddressPair) -> io::Result<Option<LeaseEntry>> {
        Ok(self.table.get(&key_of(pair))?.as_ref().map(entry_of))
    }

    pub fn set(&self, pair: &AddressPair, entry: &LeaseEntry) -> io::Result<()> {
        self.table.set(&key_of(pair), &value_of(entry))?;
        self.serial.advance()
    }

    pub fn remove(&self, pair: &AddressPair) -> io::Result<bool> {
        let was = self.table.remove(&key_of(pair))?;
        self.serial.advance()?;
        Ok(was)
    }

    /// Marks a lease as named by the user: it is kept although no packet asked for it yet.
    pub fn name(&self, pair: &AddressPair) -> io::Result<()> {
        let mut entry = self.get(pair)?.unwrap_or(LeaseEntry {
            lease: Lease::default(),
            named: false,
            wanted_ns: 0,
            counts: LeaseCounts::default(),
        });
        if !entry.named {
            entry.named = true;
            self.set(pair, &entry)?;
        }
        Ok(())
    }
}
