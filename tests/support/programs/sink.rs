//! The loaded sink.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd};
use std::rc::Rc;

use hostint::datapath::abi::sink_object::{SinkSkel, SinkSkelBuilder};
use hostint::datapath::abi::{
    address_key, bytes_of, event_kind, fine_slots, flow_key, gap_event, host_settings,
    hostint_limit, latency_event, lease_constant, loss_event, path_event, read_from, sink_counter,
    sink_flag, sink_flow, sink_grant, sink_settings, token_rate,
};
use hostint::datapath::host::serial::Serial;
use hostint::datapath::kernel::load::size_flow_table;
use hostint::datapath::kernel::maps::Map;
use hostint::datapath::kernel::probe::Features;
use hostint::datapath::sink::fine_slots::FINE_CHUNK;
use hostint::datapath::sink::minima::MinimaTable;
use hostint::datapath::sink::paths::PathTables;
use hostint::datapath::sink::unmeasured::{UnmeasuredKey, UnmeasuredTables};
use hostint::model::LeaseKey;
use libbpf_rs::skel::{OpenSkel, Skel, SkelBuilder};
use libbpf_rs::{
    MapCore, MapFlags, MapHandle, MapMut, MapType, ProgramMut, RingBuffer, RingBufferBuilder,
    libbpf_sys,
};

use super::clock::{Clock, START_NS};
use super::loaded::{Lent, Loaded};
use super::{
    Content, Ran, content, get, key_of, leaves_zeros, prefix_key, read_counters, run, set, words,
    zero_counters,
};
use crate::frame::{EXTENSION_PORT, INT_MD_MARK, MARK};
use crate::model::{self, Key};

pub const XDP_DROP: i32 = 1;
pub const XDP_PASS: i32 = 2;
pub const TCX_DROP: i32 = 2;

/// What the user half would read.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    Latency(latency_event),
    Path(path_event),
    Loss(loss_event),
    Gap(gap_event),
}

/// Sizes that are fixed at load.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub flows: u32,
    pub ring_bytes: u32,
    pub grants: u32,
    /// Flows that can have fine latency slots.
    pub fine: u32,
    /// The kernel has atomics that fetch (5.12).
    pub atomics: bool,
    /// A flow's home CPU counts by itself, where the kernel allows that.
    pub home_cpus: bool,
    /// The network card stamps packets, in the metadata before them.
    pub nic: bool,
    /// Nearly all packets take the straight way.
    pub straight: bool,
    /// Time stands still but for jumps, so that two sinks see the same.
    pub clock_stands: bool,
    /// The program for TC is loaded too, which the verifier takes as long for as for that of XDP.
    pub tc: bool,
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes {
            flows: 1024,
            ring_bytes: 4 << 20,
            grants: lease_constant::LEASE_PAIRS.0,
            fine: 1024,
            atomics: true,
            home_cpus: true,
            nic: false,
            straight: true,
            clock_stands: false,
            tc: false,
        }
    }
}

/// Events as they came out of the ring.
type Taken = Rc<RefCell<Vec<Vec<u8>>>>;

pub struct Sink {
    /// To map it takes longer than most tests for all else.
    ring: OnceCell<(RingBuffer<'static>, Taken)>,
    fine_chunks: Vec<MapHandle>,
    skel: Lent<SinkSkel<'static>>,
    atomics: bool,
    tc: bool,
    nic: bool,
    pub clock: Clock,
}

/// All encapsulations, no edges, neither timeouts nor periods in any test's time.
pub fn settings() -> sink_settings {
    sink_settings {
        report_period_ns: u64::MAX >> 2,
        loss_timeout_ns: u64::MAX >> 2,
        bucket_hold_ns: 0,
        started_ns: START_NS - 3_600_000_000_000,
        idle_ns: u64::MAX >> 2,
        kept_ns: 0,
        flags: sink_flag::SINK_OVER_TCP_UDP.0
            | sink_flag::SINK_EXTENSION_UDP.0
            | sink_flag::SINK_VXLAN_GPE.0
            | sink_flag::SINK_INT_MD.0
            | sink_flag::SINK_IOAM.0
            | sink_flag::SINK_OPTIONS.0,
        extension_port: EXTENSION_PORT.to_be(),
        tos_value: MARK,
        tos_mask: MARK,
        edge_count: 0,
        edge_up: [i32::MAX; hostint_limit::MAX_EDGES.0 as usize],
        edge_down: [i32::MAX; hostint_limit::MAX_EDGES.0 as usize],
        report_bytes: 0,
        new_flows_source: token_rate::default(),
        new_flows_total: token_rate::default(),
        reports_source: token_rate::default(),
        reports_total: token_rate::default(),
        md_tos_value: INT_MD_MARK.0,
        md_tos_mask: INT_MD_MARK.1,
        zero: [0; 6],
    }
}

/// The model of a sink with these settings.
pub fn model_of(settings: &sink_settings) -> model::sink::Sink {
    let has = |flag: sink_flag| settings.flags & flag.0 != 0;
    model::sink::Sink {
        over_tcp_udp: has(sink_flag::SINK_OVER_TCP_UDP),
        extension_udp: has(sink_flag::SINK_EXTENSION_UDP),
        vxlan_gpe: has(sink_flag::SINK_VXLAN_GPE),
        extension_port: u16::from_be(settings.extension_port),
        tos_value: settings.tos_value,
        tos_mask: settings.tos_mask,
        int_md: has(sink_flag::SINK_INT_MD)
            .then_some((settings.md_tos_value, settings.md_tos_mask)),
    }
}

/// Makes a chunk of fine slots, as the daemon does it.
fn fine_chunk(chunks: &MapMut<'_>, number: u32) -> MapHandle {
    let options = libbpf_sys::bpf_map_create_opts {
        sz: size_of::<libbpf_sys::bpf_map_create_opts>() as _,
        ..Default::default()
    };
    let bytes = size_of::<fine_slots>() as u32;
    let chunk = MapHandle::create(MapType::Array, None::<&str>, 4, bytes, FINE_CHUNK, &options);
    let chunk = chunk.expect("there is memory");
    let fd = chunk.as_fd().as_raw_fd().to_ne_bytes();
    let handed = chunks.update(&number.to_ne_bytes(), &fd, MapFlags::ANY);
    handed.expect("the map has room");
    chunk
}

fn chunks_for(sizes: Sizes) -> u32 {
    sizes.fine.max(1).div_ceil(FINE_CHUNK)
}

static LOADED: Loaded<SinkSkel<'static>> = Loaded::new();

fn load(sizes: Sizes) -> SinkSkel<'static> {
    let object = Box::leak(Box::new(MaybeUninit::uninit()));
    let mut open = SinkSkelBuilder::default()
        .open(object)
        .expect("the object is well-formed");
    let rodata = open.maps.rodata_data.as_deref_mut().expect("has rodata");
    let features = Features::probe();
    rodata.have_tai_clock = features.tai_clock;
    rodata.have_check_mtu = features.check_mtu;
    rodata.have_kernel_ctx = features.kernel_ctx;
    rodata.have_kernel_reads = features.kernel_reads;
    rodata.have_xdp_frags = features.xdp_frags;
    rodata.have_coarse_clock = features.coarse_clock;
    let atomics = features.atomics && sizes.atomics;
    rodata.have_home_cpus = atomics && features.home_cpus && sizes.home_cpus;
    rodata.software_version = 0x0304;
    rodata.nic_stamps = sizes.nic;
    rodata.have_straight_way = sizes.straight;
    rodata.clock_stands = sizes.clock_stands;
    size_flow_table(&mut open.maps.sink_flows, sizes.flows).expect("not loaded yet");
    let sized = open.maps.sink_events.set_max_entries(sizes.ring_bytes);
    sized.expect("not loaded yet");
    let sized = open.maps.sink_grants.set_max_entries(sizes.grants);
    sized.expect("not loaded yet");
    let fine = sizes.fine.max(1);
    let sized = open.maps.sink_fine_free.set_max_entries(fine);
    sized.expect("not loaded yet");
    let sized = open.maps.sink_fine_slots.set_max_entries(chunks_for(sizes));
    sized.expect("not loaded yet");
    open.progs.sink.set_autoload(atomics);
    open.progs.sink_tc.set_autoload(sizes.tc && atomics);
    open.progs.sink_locked.set_autoload(!atomics);
    open.progs.sink_tc_locked.set_autoload(sizes.tc && !atomics);
    open.progs.sink_sweep.set_autoload(atomics);
    open.progs.sink_sweep_locked.set_autoload(!atomics);
    open.progs.sink_nic_by_metadata.set_autoload(sizes.nic);
    open.load().expect("loads as root")
}

impl Sink {
    pub fn load(settings: &sink_settings) -> Self {
        Self::load_sized(settings, Sizes::default())
    }

    /// With the program for TC.
    pub fn load_both(settings: &sink_settings) -> Self {
        let sizes = Sizes {
            tc: true,
            ..Sizes::default()
        };
        Self::load_sized(settings, sizes)
    }

    pub fn load_sized(settings: &sink_settings, sizes: Sizes) -> Self {
        let atomics = Features::probe().atomics && sizes.atomics;
        let skel = LOADED.lend(&format!("{sizes:?}"), || load(sizes));
        let clock = Clock::start(&skel.maps.host_settings, &[]);
        set(&skel.maps.sink_settings, &[0; 4], settings);
        let fine_chunks =
            (0..chunks_for(sizes)).map(|number| fine_chunk(&skel.maps.sink_fine_slots, number));
        let sink = Sink {
            ring: OnceCell::new(),
            fine_chunks: fine_chunks.collect(),
            skel,
            atomics,
            tc: sizes.tc,
            nic: sizes.nic,
            clock,
        };
        if sizes.clock_stands {
            sink.set_host(|host| host.clock_offset_ns = START_NS as i64);
        }
        // The chunks are new, and have zeros already.
        (0..sizes.fine).for_each(|index| set(&sink.skel.maps.sink_fine_free, &[], &index));
        sink.allow(Ipv4Addr::UNSPECIFIED, 0);
        sink.allow(Ipv6Addr::UNSPECIFIED, 0);
        sink
    }

    pub fn set(&self, settings: &sink_settings) {
        set(&self.skel.maps.sink_settings, &[0; 4], settings);
    }

    /// Strips packets from these addresses without a lease.
    pub fn allow(&self, prefix: impl Into<IpAddr>, len: u32) {
        let key = prefix_key(prefix, len);
        set(&self.skel.maps.sink_allow, bytes_of(&key), &1u32);
        self.advance_grants();
    }

    /// The user half says so after it changed who is allowed.
    fn advance_grants(&self) {
        let map = Map::of(&self.skel.maps.sink_grants_serial).expect("its sizes are known");
        Serial::of(map).advance().expect("the map is there");
    }

    /// Removes all prefixes without saying so.
    pub fn remove_prefixes_unnoticed(&self) {
        let keys: Vec<_> = self.skel.maps.sink_allow.keys().collect();
        for key in keys {
            let gone = self.skel.maps.sink_allow.delete(&key);
            gone.expect("nobody else removes prefixes");
        }
    }

    /// Grows with each change of who is allowed.
    pub fn grants_serial(&self) -> u32 {
        get(&self.skel.maps.sink_grants_serial, &[0; 4]).expect("an array has it")
    }

    /// Nobody is allowed any more, but by leases.
    pub fn allow_nobody(&self) {
        self.remove_prefixes_unnoticed();
        self.advance_grants();
    }

    /// Changes what source and sink of the host share.
    pub fn set_host(&self, change: impl FnOnce(&mut host_settings)) {
        let map = &self.skel.maps.host_settings;
        let mut settings = get(map, &[0; 4]).expect("set at start");
        change(&mut settings);
        set(map, &[0; 4], &settings);
    }

    pub fn set_lease_key(&self, key: LeaseKey) {
        let words = [0, 8].map(|at| key.0[at..at + 8].try_into().expect("eight bytes"));
        self.set_host(|host| {
            host.lease_key = words.map(u64::from_ne_bytes);
            host.has_lease_key = 1;
        });
    }

    /// The lease granted for packets from this address.
    pub fn grant(&self, source: IpAddr) -> Option<sink_grant> {
        let key = grant_key(source);
        get(&self.skel.maps.sink_grants, bytes_of(&key))
    }

    /// As if a lease had been granted until then (monotonic).
    pub fn set_grant(&self, source: IpAddr, until_ns: u64) {
        let grant = sink_grant {
            until_ns,
            ..sink_grant::default()
        };
        self.put_grant(source, &grant);
    }

    pub fn put_grant(&self, source: IpAddr, grant: &sink_grant) {
        let key = grant_key(source);
        set(&self.skel.maps.sink_grants, bytes_of(&key), grant);
        self.advance_grants();
    }

    pub fn forget_grant(&self, source: IpAddr) {
        let key = grant_key(source);
        let gone = self.skel.maps.sink_grants.delete(bytes_of(&key));
        gone.expect("there was a grant");
        self.advance_grants();
    }

    pub fn grants(&self) -> usize {
        self.skel.maps.sink_grants.keys().count()
    }

    /// How many addresses have token buckets.
    pub fn buckets(&self) -> usize {
        self.skel.maps.sink_buckets.keys().count()
    }

    pub fn program(&self) -> &ProgramMut<'_> {
        if self.nic {
            &self.skel.progs.sink_nic_by_metadata
        } else if self.atomics {
            &self.skel.progs.sink
        } else {
            &self.skel.progs.sink_locked
        }
    }

    pub fn run(&self, frame: &[u8]) -> Ran {
        run(self.program(), frame, None)
    }

    /// With these eight bytes of metadata before the packet, the network card's stamp.
    pub fn run_stamped(&self, stamp: u64, frame: &[u8]) -> Ran {
        let bytes = [&stamp.to_ne_bytes(), frame].concat();
        // struct xdp_md: data, data_end, and four more that the kernel fills.
        let mut context = [0; 24];
        context[..4].copy_from_slice(&8u32.to_ne_bytes());
        context[4..8].copy_from_slice(&(bytes.len() as u32).to_ne_bytes());
        let mut ran = run(self.program(), &bytes, Some(&mut context));
        ran.bytes.drain(..8);
        ran
    }

    /// As TC ingress sees it.
    pub fn run_tc(&self, frame: &[u8]) -> Ran {
        run(self.tc_program(), frame, None)
    }

    pub fn tc_program(&self) -> &ProgramMut<'_> {
        assert!(self.tc, "the program for TC was not asked for");
        if self.atomics {
            &self.skel.progs.sink_tc
        } else {
            &self.skel.progs.sink_tc_locked
        }
    }

    pub fn jump(&self, by_ns: i64) {
        self.clock.jump(&self.skel.maps.host_settings, by_ns);
    }

    /// Jumps, if `clock_stands`.
    pub fn jump_standing(&self, by_ns: i64) {
        self.set_host(|host| host.clock_offset_ns += by_ns);
    }

    /// What stands in all maps that CPUs share.
    pub fn shared(&self) -> BTreeMap<String, Content> {
        super::shared(self.skel.object())
    }

    /// What stands in the tables that packets change besides counters, events and records of flows.
    pub fn tables(&self) -> BTreeMap<&'static str, Content> {
        let maps = &self.skel.maps;
        BTreeMap::from([
            ("grants", content(&maps.sink_grants)),
            ("crossings", content(&maps.crossings)),
            ("unmeasured", content(&maps.sink_unmeasured)),
            ("token buckets", content(&maps.sink_buckets)),
            ("times on paths", content(&maps.sink_path_times)),
            ("minima", content(&maps.sink_minima)),
        ])
    }

    /// Runs one of the programs, and says whether the packet took the straight way. The general one leaves in the scratch,
    /// behind a word, where the packet's headers are.
    pub fn takes_straight_way(&self, run: impl FnOnce(&Self)) -> bool {
        leaves_zeros(&self.skel.maps.sink_scratch, 4..8, || run(self))
    }

    pub fn sweep(&self, keys: &[Key]) {
        let list: Vec<u8> = keys
            .iter()
            .flat_map(|key| bytes_of(&key_of(key)).to_vec())
            .collect();
        let sweep = match self.atomics {
            true => &self.skel.progs.sink_sweep,
            false => &self.skel.progs.sink_sweep_locked,
        };
        let ran = run(sweep, &list, None);
        assert_eq!(ran.verdict, 0, "a sweep always succeeds");
    }

    pub fn record(&self, key: &Key) -> Option<sink_flow> {
        get(&self.skel.maps.sink_flows, bytes_of(&key_of(key)))
    }

    /// The flow's record, with what all CPUs counted in the sums of its home CPU.
    pub fn flow(&self, key: &Key) -> Option<sink_flow> {
        self.record(key).map(|record| sink_flow {
            packets: record.all_packets(),
            bytes: record.all_bytes(),
            earned_bytes: record.all_earned_bytes(),
            latency_sum_ns: record.all_latency_sum_ns(),
            other_packets: 0,
            other_bytes: 0,
            other_earned_bytes: 0,
            other_latency_sum_ns: 0,
            ..record
        })
    }

    /// As if the kernel half had left the flow's record like this.
    pub fn put_flow(&self, key: &Key, flow: &sink_flow) {
        set(&self.skel.maps.sink_flows, bytes_of(&key_of(key)), flow);
    }

    /// Makes fine slots free for the next flow, as the daemon does it.
    pub fn free_slots(&self, index: u32) {
        let (chunk, place) = (index / FINE_CHUNK, index % FINE_CHUNK);
        let zero = fine_slots::default();
        set(
            &self.fine_chunks[chunk as usize],
            &place.to_ne_bytes(),
            &zero,
        );
        set(&self.skel.maps.sink_fine_free, &[], &index);
    }

    /// Takes all fine slots that are free.
    pub fn take_free_slots(&self) -> Vec<u32> {
        let free = &self.skel.maps.sink_fine_free;
        let taken = std::iter::from_fn(|| free.lookup_and_delete(&[]).expect("a queue"));
        taken
            .map(|bytes| read_from(&bytes).expect("an index"))
            .collect()
    }

    /// The flow's fine slots, if it has any.
    pub fn fine_slots(&self, flow: &sink_flow) -> Option<fine_slots> {
        let index = flow.fine_slots.checked_sub(1)?;
        let (chunk, place) = (index / FINE_CHUNK, index % FINE_CHUNK);
        get(&self.fine_chunks[chunk as usize], &place.to_ne_bytes())
    }

    pub fn flows(&self) -> usize {
        self.skel.maps.sink_flows.keys().count()
    }

    pub fn forget_flow(&self, key: &Key) {
        let gone = self.skel.maps.sink_flows.delete(bytes_of(&key_of(key)));
        gone.expect("nobody else removes flows");
    }

    /// The quickest packets of each source node.
    pub fn minima(&self) -> MinimaTable {
        let map = Map::of(&self.skel.maps.sink_minima);
        MinimaTable::of(map.expect("its sizes are known"))
    }

    /// The times of all packets over transit hops.
    pub fn paths(&self) -> PathTables {
        let maps = &self.skel.maps;
        let (paths, times) = (Map::of(&maps.sink_paths), Map::of(&maps.sink_path_times));
        PathTables::of(
            paths.expect("its sizes are known"),
            times.expect("its sizes are known"),
        )
    }

    /// Packets that were stripped without being measured, and their bytes.
    pub fn unmeasured(&self) -> Vec<(UnmeasuredKey, u64, u64)> {
        let maps = &self.skel.maps;
        let map = |map| Map::of(map).expect("its sizes are known");
        let tables =
            UnmeasuredTables::of(map(&maps.sink_unmeasured), map(&maps.sink_unmeasured_nodes));
        let mut told = Vec::new();
        tables
            .for_each(|key, of| told.push((key, of.packets, of.bytes.unwrap_or(0))))
            .expect("the tables can be read");
        told.sort_unstable();
        told
    }

    pub fn forget_flows(&self) {
        let keys: Vec<_> = self.skel.maps.sink_flows.keys().collect();
        for key in keys {
            let gone = self.skel.maps.sink_flows.delete(&key);
            gone.expect("nobody else removes flows");
        }
    }

    /// Packets and bytes by counter.
    pub fn crossings(&self) -> &impl MapCore {
        &self.skel.maps.crossings
    }

    pub fn counters(&self) -> Vec<(u64, u64)> {
        read_counters(
            &self.skel.maps.sink_counters,
            sink_counter::COUNT_SINK_MAX.0,
        )
    }

    pub fn zero_counters(&self) {
        zero_counters(
            &self.skel.maps.sink_counters,
            sink_counter::COUNT_SINK_MAX.0,
        );
    }

    pub fn count(&self, which: sink_counter) -> u64 {
        self.counters()[which.0 as usize].0
    }

    /// Takes everything out of the ring.
    pub fn events(&self) -> Vec<Event> {
        let events = self.event_bytes();
        events.iter().map(|bytes| decode(bytes)).collect()
    }

    /// Takes everything out of the ring, as the user half gets it.
    pub fn event_bytes(&self) -> Vec<Vec<u8>> {
        let (ring, taken) = self.ring.get_or_init(|| {
            let taken = Taken::default();
            let events = taken.clone();
            let mut builder = RingBufferBuilder::new();
            let take = move |bytes: &[u8]| {
                events.borrow_mut().push(bytes.to_vec());
                0
            };
            builder
                .add(&self.skel.maps.sink_events, take)
                .expect("the ring is mapped");
            (builder.build().expect("one ring"), taken)
        });
        ring.consume().expect("events can be read");
        taken.take()
    }
}

fn grant_key(source: IpAddr) -> address_key {
    let mapped = match source {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    };
    address_key {
        addr: words(mapped.octets()),
    }
}

fn decode(bytes: &[u8]) -> Event {
    let kind = read_from(bytes).map(event_kind);
    let event = match kind {
        Some(event_kind::EVENT_LATENCY) => read_from(bytes).map(Event::Latency),
        Some(event_kind::EVENT_PATH) => read_from(bytes).map(Event::Path),
        Some(event_kind::EVENT_LOSS) => read_from(bytes).map(Event::Loss),
        Some(event_kind::EVENT_GAP) => read_from(bytes).map(Event::Gap),
        other => panic!("event of unknown kind {other:?}"),
    };
    event.expect("a whole event")
}

/// Latency events only.
pub fn latencies(events: &[Event]) -> Vec<latency_event> {
    let latency = |event: &Event| match event {
        Event::Latency(latency) => Some(*latency),
        _ => None,
    };
    events.iter().filter_map(latency).collect()
}

/// Loss events only.
pub fn losses(events: &[Event]) -> Vec<loss_event> {
    let loss = |event: &Event| match event {
        Event::Loss(loss) => Some(*loss),
        _ => None,
    };
    events.iter().filter_map(loss).collect()
}

/// Flows of which numbers began to miss.
pub fn gaps(events: &[Event]) -> Vec<flow_key> {
    let gap = |event: &Event| match event {
        Event::Gap(gap) => Some(gap.key),
        _ => None,
    };
    events.iter().filter_map(gap).collect()
}
