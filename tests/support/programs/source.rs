//! The loaded source.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hostint::datapath::abi::source_object::{SourceSkel, SourceSkelBuilder};
use hostint::datapath::abi::{
    address_pair, bytes_of, encapsulation, host_settings, lease_constant, lease_way, missed_counts,
    missed_key, source_counter, source_flow, source_lease, superpackets,
};
use hostint::datapath::host::serial::Serial;
use hostint::datapath::kernel::load::size_flow_table;
use hostint::datapath::kernel::maps::Map;
use hostint::datapath::kernel::probe::Features;
use hostint::datapath::watch::Watchlist;
use hostint::model::{Prefix, RuleHost, WatchRule};
use libbpf_rs::skel::{OpenSkel, Skel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, MapMut, ProgramMut};

use super::clock::{Clock, NODE, START_NS};
use super::loaded::{Lent, Loaded};
use super::{
    Content, Ran, content, get, key_of, leaves_zeros, read_counters, run, run_lengthened, set,
    zero_counters,
};
use crate::frame::{EXTENSION_PORT, INT_MD_MARK, MARK};
use crate::model::{self, Encapsulation, Key};

/// tcx: the next program decides; clsact: as if there were no filter.
pub const TCX_NEXT: i32 = -1;

/// Where the program hangs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hook {
    Tc,
    Xdp,
}

/// What is fixed at load.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub encapsulation: Encapsulation,
    /// The encapsulation is `tunnel`, and the model's the one that follows from the lease.
    pub tunnel: bool,
    /// The encapsulation is `ioam`, and the model's the one that follows from the lease where it is not that.
    pub ioam: bool,
    /// The encapsulation is `options`, which the model knows nothing of.
    pub options: bool,
    /// How superpackets are handled: those that are not encapsulated are skipped.
    pub superpackets: superpackets,
    /// 0: that of the loopback device, on which the kernel runs test packets: 65536.
    pub fixed_mtu: u32,
    /// Transit hops that may push where the sink reads their entries.
    pub max_hops: u32,
    /// Their entries have no queue.
    pub without_queue: bool,
    /// The kernel lets programs see its own packet type (6.2).
    pub kernel_ctx: bool,
    /// It has atomics that fetch (5.12).
    pub atomics: bool,
    pub tos_value: u8,
    pub tos_mask: u8,
    pub flows: u32,
    pub leases: u32,
    /// Nearly all packets take the straight way.
    pub straight: bool,
    /// Time stands still, so that two sources see the same.
    pub clock_stands: bool,
    /// INT-MX instead of INT-MD: one packet of 2 to the power of this is told.
    pub mx_sample: Option<u8>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            encapsulation: Encapsulation::OverTcpUdp,
            tunnel: false,
            ioam: false,
            options: false,
            superpackets: superpackets::SUPER_SKIP,
            fixed_mtu: 0,
            max_hops: 0,
            without_queue: false,
            kernel_ctx: true,
            atomics: true,
            tos_value: MARK,
            tos_mask: MARK,
            flows: 1024,
            leases: lease_constant::LEASE_PAIRS.0,
            straight: true,
            clock_stands: false,
            mx_sample: None,
        }
    }
}

fn pair_of(key: &Key) -> address_pair {
    let key = key_of(key);
    address_pair {
        saddr: key.saddr,
        daddr: key.daddr,
    }
}

pub struct Source {
    skel: Lent<SourceSkel<'static>>,
    atomics: bool,
    xdp: bool,
    pub clock: Clock,
    pub model: model::source::Source,
}

/// Only extension-udp goes by XDP. The verifier takes as long for it as for the program for TC.
fn goes_by_xdp(options: &Options) -> bool {
    options.tunnel || options.encapsulation == Encapsulation::ExtensionUdp
}

fn int_md_mark(options: &Options) -> Option<(u8, u8)> {
    (options.encapsulation == Encapsulation::IntMd).then_some(INT_MD_MARK)
}

static LOADED: Loaded<SourceSkel<'static>> = Loaded::new();

fn load(options: &Options) -> SourceSkel<'static> {
    let object = Box::leak(Box::new(MaybeUninit::uninit()));
    let mut open = SourceSkelBuilder::default()
        .open(object)
        .expect("the object is well-formed");
    let rodata = open.maps.rodata_data.as_deref_mut().expect("has rodata");
    let features = Features::probe();
    rodata.have_tai_clock = features.tai_clock;
    rodata.have_check_mtu = features.check_mtu;
    rodata.have_coarse_clock = features.coarse_clock;
    rodata.have_kernel_ctx = features.kernel_ctx && options.kernel_ctx;
    rodata.have_kernel_reads = features.kernel_reads;
    rodata.superpackets = options.superpackets.0;
    rodata.max_hops = options.max_hops;
    rodata.without_queue = options.without_queue;
    rodata.ioam_superpackets = options.ioam;
    rodata.have_straight_way = options.straight;
    rodata.clock_stands = options.clock_stands;
    rodata.encapsulation = match options.encapsulation {
        _ if options.tunnel => encapsulation::ENCAP_TUNNEL.0,
        _ if options.ioam => encapsulation::ENCAP_IOAM.0,
        _ if options.options => encapsulation::ENCAP_OPTIONS.0,
        Encapsulation::OverTcpUdp => encapsulation::ENCAP_OVER_TCP_UDP.0,
        Encapsulation::ExtensionUdp => encapsulation::ENCAP_EXTENSION_UDP.0,
        Encapsulation::VxlanGpe => encapsulation::ENCAP_VXLAN_GPE.0,
        Encapsulation::IntMd => encapsulation::ENCAP_INT_MD.0,
    };
    rodata.tos_value = options.tos_value;
    rodata.tos_mask = options.tos_mask;
    (rodata.md_tos_value, rodata.md_tos_mask) = int_md_mark(options).unwrap_or_default();
    rodata.is_mx = options.mx_sample.is_some();
    rodata.mx_sample = options.mx_sample.unwrap_or(0).into();
    rodata.extension_port = EXTENSION_PORT.to_be();
    rodata.fixed_mtu = match options.fixed_mtu {
        // Before 5.12 the loader asks the device instead of the program.
        0 if !features.check_mtu => 0xffff,
        fixed => fixed,
    };
    let sized = size_flow_table(&mut open.maps.source_flows, options.flows);
    sized.expect("not loaded yet");
    let sized = open.maps.source_leases.set_max_entries(options.leases);
    sized.expect("not loaded yet");
    let atomics = features.atomics && options.atomics;
    let xdp = goes_by_xdp(options);
    open.progs.source_tc.set_autoload(atomics);
    open.progs.source_xdp.set_autoload(xdp && atomics);
    open.progs.source_tc_locked.set_autoload(!atomics);
    open.progs.source_xdp_locked.set_autoload(xdp && !atomics);
    open.load().expect("loads as root")
}

impl Source {
    /// Watches every destination; sends reports to two ports.
    pub fn load(options: &Options) -> Self {
        let mut source = Self::load_watching_nothing(options);
        source.watch(Ipv4Addr::UNSPECIFIED, 0);
        source.watch(Ipv6Addr::UNSPECIFIED, 0);
        source
    }

    /// Watches every destination, and tags where there is a lease.
    pub fn load_asking(options: &Options) -> Self {
        let mut source = Self::load_watching_nothing(options);
        source.watch_leased(Ipv4Addr::UNSPECIFIED, 0);
        source.watch_leased(Ipv6Addr::UNSPECIFIED, 0);
        source
    }

    pub fn load_watching_nothing(options: &Options) -> Self {
        let atomics = Features::probe().atomics && options.atomics;
        let skel = LOADED.lend(&format!("{options:?}"), || load(options));
        let report_ports = vec![32766, 9555];
        let clock = Clock::start(&skel.maps.host_settings, &report_ports);
        if options.clock_stands {
            let mut standing: host_settings =
                get(&skel.maps.host_settings, &[0; 4]).expect("set at start");
            standing.clock_offset_ns = START_NS as i64;
            set(&skel.maps.host_settings, &[0; 4], &standing);
        }
        let int_md = int_md_mark(options);
        let model = model::source::Source {
            encapsulation: options.encapsulation,
            tos_value: options.tos_value,
            tos_mask: options.tos_mask,
            extension_port: EXTENSION_PORT,
            int_md,
            mx_sample: options.mx_sample,
            // Whoever takes INT-MD out reads stacks.
            budget: int_md.map(|_| {
                if options.without_queue {
                    0
                } else {
                    options.max_hops as u8
                }
            }),
            without_queue: options.without_queue,
            mtu: match options.fixed_mtu {
                0 => 65536,
                mtu => mtu as usize,
            },
            node: NODE,
            port: 1, // the loopback device
            rules: Vec::new(),
            report_ports,
        };
        Source {
            skel,
            atomics,
            xdp: goes_by_xdp(options),
            clock,
            model,
        }
    }

    /// Adds a prefix to the watchlist, tagged whether a sink is there or not.
    pub fn watch(&mut self, prefix: impl Into<IpAddr>, len: u32) {
        self.add_dest(prefix.into(), len, true);
    }

    /// Adds a prefix to the watchlist, tagged while there is a lease.
    pub fn watch_leased(&mut self, prefix: impl Into<IpAddr>, len: u32) {
        self.add_dest(prefix.into(), len, false);
    }

    fn add_dest(&mut self, prefix: IpAddr, len: u32, fixed: bool) {
        let prefix = Prefix::new(prefix, len as u8).expect("a prefix");
        let place = RuleHost {
            text: prefix.to_string(),
            prefixes: vec![prefix],
        };
        let mut rules = std::mem::take(&mut self.model.rules);
        rules.retain(|rule| rule.to != [place.clone()]);
        rules.push(WatchRule::of_dest(place, fixed));
        self.set_rules(rules);
    }

    /// Makes these rules the watchlist.
    pub fn set_rules(&mut self, rules: Vec<WatchRule>) {
        let list = self.watchlist();
        list.replace(&rules).expect("there is room");
        self.model.rules = rules;
    }

    pub fn watchlist(&self) -> Watchlist {
        let maps = &self.skel.maps;
        Watchlist {
            state: Map::of(&maps.watch_state).expect("as built"),
            places4: Map::of(&maps.watch_places4).expect("as built"),
            places6: Map::of(&maps.watch_places6).expect("as built"),
            nodes: Map::of(&maps.watch_nodes).expect("as built"),
            edges: Map::of(&maps.watch_edges).expect("as built"),
            classes: Map::of(&maps.watch_classes).expect("as built"),
            texts: Map::of(&maps.watch_texts).expect("as built"),
        }
    }

    /// What is known of the sink before the flow's destination.
    pub fn lease(&self, key: &Key) -> Option<source_lease> {
        get(&self.skel.maps.source_leases, bytes_of(&pair_of(key)))
    }

    /// As if the daemon had proved all ways of probed forms, and the sink counted packets; `until_ns` is monotonic.
    pub fn set_lease(&self, key: &Key, until_ns: u64) {
        self.write_lease(
            key,
            &source_lease {
                until_ns,
                proved_ns: 1,
                vouched_ns: u64::MAX,
                ways: lease_way::WAY_TCP_OVER.0
                    | lease_way::WAY_TCP_EXTENSION.0
                    | lease_way::WAY_TCP_GPE.0
                    | lease_way::WAY_UDP_OVER.0
                    | lease_way::WAY_UDP_EXTENSION.0
                    | lease_way::WAY_UDP_GPE.0
                    | lease_way::WAY_UDP_INT_MD.0,
                ..source_lease::default()
            },
        );
    }

    /// As if the daemon had proved these ways, and leased for ever.
    pub fn set_ways(&self, key: &Key, ways: u32) {
        self.write_lease(
            key,
            &source_lease {
                until_ns: u64::MAX,
                proved_ns: 1,
                ways,
                ..self.lease(key).unwrap_or_default()
            },
        );
    }

    /// As if the daemon had written it.
    pub fn write_lease(&self, key: &Key, lease: &source_lease) {
        set(
            &self.skel.maps.source_leases,
            bytes_of(&pair_of(key)),
            lease,
        );
    }

    pub fn leases_map(&self) -> &MapMut<'static> {
        &self.skel.maps.source_leases
    }

    /// What makes flows look at their leases again.
    pub fn leases_serial(&self) -> Serial {
        let map = Map::of(&self.skel.maps.source_leases_serial);
        Serial::of(map.expect("its sizes are known"))
    }

    pub fn flows_map(&self) -> &MapMut<'static> {
        &self.skel.maps.source_flows
    }

    pub fn leases(&self) -> usize {
        self.skel.maps.source_leases.keys().count()
    }

    pub fn program(&self, hook: Hook) -> &ProgramMut<'_> {
        let loaded = self.xdp || hook == Hook::Tc;
        assert!(loaded, "no encapsulation of this source goes by XDP");
        match (hook, self.atomics) {
            (Hook::Tc, true) => &self.skel.progs.source_tc,
            (Hook::Xdp, true) => &self.skel.progs.source_xdp,
            (Hook::Tc, false) => &self.skel.progs.source_tc_locked,
            (Hook::Xdp, false) => &self.skel.progs.source_xdp_locked,
        }
    }

    pub fn run(&self, frame: &[u8]) -> Ran {
        run(self.program(Hook::Tc), frame, None)
    }

    /// As `run`, for a datagram that gets an option behind its data.
    pub fn run_lengthened(&self, frame: &[u8]) -> Ran {
        run_lengthened(self.program(Hook::Tc), frame)
    }

    pub fn run_xdp(&self, frame: &[u8]) -> Ran {
        run(self.program(Hook::Xdp), frame, None)
    }

    /// As TC egress sees a packet that the device is to split into segments.
    pub fn run_superpacket(&self, frame: &[u8], gso_size: u32, segments: u32) -> Ran {
        // struct __sk_buff of linux/bpf.h
        let mut context = [0; 192];
        context[164..168].copy_from_slice(&segments.to_ne_bytes());
        context[176..180].copy_from_slice(&gso_size.to_ne_bytes());
        run(self.program(Hook::Tc), frame, Some(&mut context))
    }

    pub fn jump(&self, by_ns: i64) {
        self.clock.jump(&self.skel.maps.host_settings, by_ns);
    }

    /// One flow in two to the power of this is tagged.
    pub fn set_share(&self, shift: u32) {
        let map = &self.skel.maps.host_settings;
        let mut settings: host_settings = get(map, &[0; 4]).expect("set at start");
        settings.share_shift = shift;
        set(map, &[0; 4], &settings);
    }

    pub fn flow(&self, key: &Key) -> Option<source_flow> {
        let key = key_of(key);
        // The lock's bytes are none of user space's business; the kernel shows zeros.
        get(&self.skel.maps.source_flows, bytes_of(&key))
    }

    /// Changes the flow's record.
    pub fn change_flow(&self, key: &Key, change: impl FnOnce(&mut source_flow)) {
        let mut flow = self.flow(key).expect("a flow");
        change(&mut flow);
        set(&self.skel.maps.source_flows, bytes_of(&key_of(key)), &flow);
    }

    /// As if the source had sent so many packets of the flow already.
    pub fn set_sequence(&self, key: &Key, sequence: u32) {
        self.change_flow(key, |flow| flow.sequence = sequence);
    }

    /// As if an ICMP error had told of so narrow a path.
    pub fn set_path_mtu(&self, key: &Key, mtu: u32) {
        self.change_flow(key, |flow| flow.path_mtu = mtu);
    }

    pub fn forget_flows(&self) {
        let keys: Vec<_> = self.skel.maps.source_flows.keys().collect();
        for key in keys {
            let gone = self.skel.maps.source_flows.delete(&key);
            gone.expect("nobody else removes flows");
        }
    }

    pub fn knows(&self, key: &Key) -> bool {
        let key = key_of(key);
        let found = self
            .skel
            .maps
            .source_flows
            .lookup(bytes_of(&key), MapFlags::ANY);
        found.expect("the map is there").is_some()
    }

    /// What stands in all maps that CPUs share.
    pub fn shared(&self) -> BTreeMap<String, Content> {
        super::shared(self.skel.object())
    }

    /// What stands in the tables that packets change besides counters and records of flows.
    pub fn tables(&self) -> BTreeMap<&'static str, Content> {
        let maps = &self.skel.maps;
        BTreeMap::from([
            ("leases", content(&maps.source_leases)),
            ("packets by pair", content(&maps.source_missed)),
            ("crossings", content(&maps.crossings)),
        ])
    }

    /// Runs the program, and says whether the packet took the straight way. The general one leaves the packet's layers in
    /// the first word of the scratch.
    pub fn takes_straight_way(&self, run: impl FnOnce(&Self)) -> bool {
        leaves_zeros(&self.skel.maps.source_scratch, 0..4, || run(self))
    }

    pub fn crossings(&self) -> &impl MapCore {
        &self.skel.maps.crossings
    }

    pub fn counters(&self) -> Vec<(u64, u64)> {
        read_counters(
            &self.skel.maps.source_counters,
            source_counter::COUNT_SOURCE_MAX.0,
        )
    }

    /// The packets of the flow's pair and this class, and their bytes, by counter.
    pub fn counted(&self, key: &Key, class: u32) -> Vec<(u64, u64)> {
        let pair = pair_of(key);
        let key = missed_key {
            saddr: pair.saddr,
            daddr: pair.daddr,
            class,
        };
        let found: Option<missed_counts> = get(&self.skel.maps.source_missed, bytes_of(&key));
        let found = found.unwrap_or_default();
        found.packets.into_iter().zip(found.bytes).collect()
    }

    pub fn zero_counters(&self) {
        zero_counters(
            &self.skel.maps.source_counters,
            source_counter::COUNT_SOURCE_MAX.0,
        );
    }
}
