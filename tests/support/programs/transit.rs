//! The loaded programs of a transit hop.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv6Addr};

use hostint::datapath::abi::transit_object::{TransitSkel, TransitSkelBuilder};
use hostint::datapath::abi::{
    bytes_of, host_settings, read_from, transit_asker, transit_carrier, transit_counter,
    transit_gauge, transit_postcard,
};
use hostint::datapath::kernel::probe::Features;
use hostint::model::link_code;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapHandle, ProgramMut, RingBufferBuilder};

use super::clock::{Clock, START_NS};
use super::{
    Content, Ran, content, get, leaves_zeros, prefix_key, read_counters, run, set, zero_counters,
};
use crate::frame::{EXTENSION_PORT, INT_MD_MARK, MARK};

/// The interface at which packets arrived; BPF_PROG_RUN runs programs on loopback, by which they leave.
pub const INGRESS: u16 = 3;
pub const EGRESS: u16 = 1;

/// INT of hostint's own sources, and that of all others.
pub const OWN: u32 = transit_carrier::CARRIER_HOST_INT.0 | transit_carrier::CARRIER_VXLAN_GPE.0;
pub const INT_MD: u32 = transit_carrier::CARRIER_INT_MD.0;
/// INT of any source in an option of Geneve.
pub const GENEVE: u32 = transit_carrier::CARRIER_GENEVE.0;
/// TCP option 114.
pub const TCP_INT: u32 = transit_carrier::CARRIER_TCP_INT.0;

/// All time is in the first window.
const ENDLESS: u64 = 1 << 62;
/// The number of the window before that.
const WINDOW_BEFORE: u64 = 0x7fff_ffff;

/// What is fixed at load.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// 0: that of the loopback device.
    pub fixed_mtu: u32,
    /// The kernel lets programs see its own packet type (6.2).
    pub kernel_ctx: bool,
    /// Arrivals that are remembered.
    pub arrivals: u32,
    /// The device cuts superpackets in tunnels itself.
    pub cuts_tunnels: bool,
    /// Only packets of these addresses get an entry.
    pub allowed: Option<&'a [IpAddr]>,
    /// The kinds of INT onto which it pushes.
    pub carriers: u32,
    /// DSCP and its bits, and port, that mark INT-MD.
    pub int_md: (u8, u8, u16),
    /// The speed of the link, in Mbit/s.
    pub link_mbit: u32,
    /// How long values of option 114 are held, in nanoseconds.
    pub hold_ns: u64,
    /// Departures are remembered for the program that measures waits.
    pub waits: bool,
    /// Nearly all packets take the straight way.
    pub straight: bool,
    /// Steps of a push that fail as the kernel may let them fail (`enum push_step`).
    pub refused: u32,
    /// Time stands still but for jumps, so that two hops see the same.
    pub clock_stands: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            fixed_mtu: 0,
            kernel_ctx: true,
            arrivals: 65_536,
            cuts_tunnels: false,
            allowed: None,
            carriers: OWN,
            int_md: (0, 0, 0),
            link_mbit: 0,
            hold_ns: ENDLESS,
            waits: false,
            straight: true,
            refused: 0,
            clock_stands: false,
        }
    }
}

/// Onto INT of hostint's own sources in every encapsulation.
pub fn with_int_md() -> Options<'static> {
    let (value, mask) = INT_MD_MARK;
    Options {
        carriers: OWN | INT_MD,
        int_md: (value >> 2, mask >> 2, 0),
        ..Options::default()
    }
}

pub struct Hop {
    skel: TransitSkel<'static>,
    pub clock: Clock,
}

impl Hop {
    pub fn load(options: &Options<'_>) -> Self {
        let object = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = TransitSkelBuilder::default()
            .open(object)
            .expect("the object is well-formed");
        let rodata = open.maps.rodata_data.as_deref_mut().expect("has rodata");
        let features = Features::probe();
        rodata.have_tai_clock = features.tai_clock;
        rodata.have_check_mtu = features.check_mtu;
        rodata.have_kernel_ctx = features.kernel_ctx && options.kernel_ctx;
        rodata.have_kernel_reads = features.kernel_reads;
        rodata.tos_value = MARK;
        rodata.tos_mask = MARK;
        rodata.extension_port = EXTENSION_PORT.to_be();
        rodata.fixed_mtu = match options.fixed_mtu {
            // Before 5.12 the loader asks the device instead of the program.
            0 if !features.check_mtu => 0xffff,
            fixed => fixed,
        };
        rodata.arrival_slots = options.arrivals;
        let (value, mask, port) = options.int_md;
        rodata.carriers = options.carriers;
        rodata.md_tos_value = value << 2;
        rodata.md_tos_mask = mask << 2;
        rodata.md_port = port.to_be();
        rodata.only_allowed = options.allowed.is_some();
        rodata.cuts_tunnels = options.cuts_tunnels;
        rodata.notes_departures = options.waits;
        rodata.have_straight_way = options.straight;
        rodata.refused_steps = options.refused;
        rodata.clock_stands = options.clock_stands;
        for map in [
            &mut open.maps.transit_arrivals,
            &mut open.maps.transit_departures,
        ] {
            map.set_max_entries(options.arrivals)
                .expect("not loaded yet");
        }
        let skel = open.load().expect("loads as root");
        let clock = Clock::start(&skel.maps.host_settings, &[]);
        for address in options.allowed.unwrap_or_default() {
            let bits = if address.is_ipv4() { 32 } else { 128 };
            set(
                &skel.maps.transit_allow,
                bytes_of(&prefix_key(*address, bits)),
                &1u32,
            );
        }
        let gauge = transit_gauge {
            hold_ns: options.hold_ns,
            link_mbit: options.link_mbit,
            link_code: link_code(options.link_mbit).into(),
            ..transit_gauge::default()
        };
        set(
            &skel.maps.transit_gauges,
            bytes_of(&u32::from(EGRESS)),
            &gauge,
        );
        let hop = Self { skel, clock };
        if options.clock_stands {
            hop.set_host(|host| host.clock_offset_ns = START_NS as i64);
        }
        hop
    }

    fn set_host(&self, change: impl FnOnce(&mut host_settings)) {
        let map = &self.skel.maps.host_settings;
        let mut settings: host_settings = get(map, &[0; 4]).expect("set at start");
        change(&mut settings);
        set(map, &[0; 4], &settings);
    }

    /// What all requests of option 114 get from now on: a value, and the latency in units of 256 ns; with no window before,
    /// what the next one meets.
    pub fn hold(&self, before: Option<(Option<u8>, u32)>) {
        let key = u32::from(EGRESS);
        let map = &self.skel.maps.transit_gauges;
        let mut gauge: transit_gauge = get(map, bytes_of(&key)).expect("set at load");
        gauge.windows = [0, 0];
        if let Some((value, latency)) = before {
            let value = value.map_or(0, |value| u64::from(value) + 1);
            gauge.windows[1] = WINDOW_BEFORE << 33 | value << 24 | u64::from(latency);
        }
        set(map, bytes_of(&key), &gauge);
    }

    /// The hosts whose requests were filled in, and the TTLs.
    pub fn askers(&self) -> Vec<(IpAddr, IpAddr, u32)> {
        let map = &self.skel.maps.transit_askers;
        let address = |words: [u32; 4]| {
            let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
            let bytes: [u8; 16] = bytes.try_into().expect("sixteen");
            Ipv6Addr::from(bytes).to_canonical()
        };
        let keys = map
            .keys()
            .filter_map(|key| read_from::<transit_asker>(&key));
        keys.map(|key| (address(key.saddr), address(key.daddr), key.ttl))
            .collect()
    }

    /// Goes on to the next window.
    pub fn next_window(&self) {
        let key = u32::from(EGRESS);
        let map = &self.skel.maps.transit_gauges;
        let mut gauge: transit_gauge = get(map, bytes_of(&key)).expect("set at load");
        gauge.windows = [0, WINDOW_BEFORE << 33 | gauge.windows[0]];
        set(map, bytes_of(&key), &gauge);
    }

    pub fn set_link(&self, mbit: u32) {
        let key = u32::from(EGRESS);
        let map = &self.skel.maps.transit_gauges;
        let mut gauge: transit_gauge = get(map, bytes_of(&key)).expect("set at load");
        gauge.link_mbit = mbit;
        gauge.link_code = link_code(mbit).into();
        set(map, bytes_of(&key), &gauge);
    }

    pub fn set_node(&self, node: u32) {
        self.set_host(|host| host.node_id = node);
    }

    /// Jumps, if `clock_stands`.
    pub fn jump_standing(&self, by_ns: i64) {
        self.set_host(|host| host.clock_offset_ns += by_ns);
    }

    /// What stands in the tables that packets change besides counters.
    pub fn tables(&self) -> BTreeMap<&'static str, Content> {
        let maps = &self.skel.maps;
        BTreeMap::from([
            ("arrivals", content(&maps.transit_arrivals)),
            ("departures", content(&maps.transit_departures)),
            ("crossings", content(&maps.crossings)),
        ])
    }

    /// Runs one of the programs, and says whether the packet took the straight way. The general one leaves the packet's
    /// layers in the first word of the scratch.
    pub fn takes_straight_way(&self, run: impl FnOnce(&Self)) -> bool {
        leaves_zeros(&self.skel.maps.transit_scratch, 0..4, || run(self))
    }

    pub fn jump(&self, by_ns: i64) {
        self.clock.jump(&self.skel.maps.host_settings, by_ns);
    }

    /// Takes everything out of the ring of postcards.
    pub fn postcards(&self) -> Vec<transit_postcard> {
        let cards = RefCell::new(Vec::new());
        let mut builder = RingBufferBuilder::new();
        let take = |bytes: &[u8]| {
            cards
                .borrow_mut()
                .extend(read_from::<transit_postcard>(bytes));
            0
        };
        builder
            .add(&self.skel.maps.transit_postcards, take)
            .expect("the ring is mapped");
        let ring = builder.build().expect("one ring");
        ring.consume().expect("postcards can be read");
        drop(ring);
        cards.into_inner()
    }

    pub fn program_in(&self) -> &ProgramMut<'_> {
        &self.skel.progs.transit_in
    }

    pub fn program_out(&self) -> &ProgramMut<'_> {
        &self.skel.progs.transit_out
    }

    /// As TC ingress sees the packet.
    pub fn arrive(&self, frame: &[u8]) -> Ran {
        run(self.program_in(), frame, None)
    }

    /// As TC egress sees it.
    pub fn leave(&self, frame: &[u8]) -> Ran {
        run(self.program_out(), frame, Some(&mut context(INGRESS, 0, 0)))
    }

    /// As TC egress sees a packet that is to be split into segments.
    pub fn leave_superpacket(&self, frame: &[u8], gso_size: u32, segments: u32) -> Ran {
        let mut context = context(INGRESS, gso_size, segments);
        run(self.program_out(), frame, Some(&mut context))
    }

    /// As TC egress sees a packet of this host itself.
    pub fn leave_from_here(&self, frame: &[u8]) -> Ran {
        run(self.program_out(), frame, None)
    }

    pub fn crossings(&self) -> &impl MapCore {
        &self.skel.maps.crossings
    }

    /// The map of the counters, as the daemon has it.
    pub fn counter_map(&self) -> MapHandle {
        MapHandle::try_from(&self.skel.maps.transit_counters).expect("the map is open")
    }

    pub fn counters(&self) -> Vec<(u64, u64)> {
        read_counters(
            &self.skel.maps.transit_counters,
            transit_counter::COUNT_TRANSIT_MAX.0,
        )
    }

    pub fn zero_counters(&self) {
        zero_counters(
            &self.skel.maps.transit_counters,
            transit_counter::COUNT_TRANSIT_MAX.0,
        );
    }
}

/// struct __sk_buff of linux/bpf.h
pub fn context(ingress: u16, gso_size: u32, segments: u32) -> [u8; 192] {
    let mut context = [0; 192];
    context[36..40].copy_from_slice(&u32::from(ingress).to_ne_bytes());
    context[164..168].copy_from_slice(&segments.to_ne_bytes());
    context[176..180].copy_from_slice(&gso_size.to_ne_bytes());
    context
}
