//! The source's loaded peer program.

use std::mem::MaybeUninit;
use std::net::IpAddr;
use std::os::fd::AsFd;

use hostint::datapath::abi::peer_object::{PeerSkel, PeerSkelBuilder};
use hostint::datapath::abi::{
    address_pair, bytes_of, lease_state, peer_counter, source_flow, source_lease, watch_flag,
    watch_key4, watch_key6, watch_place, watch_state,
};
use hostint::datapath::kernel::probe::Features;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags};

use super::{Ran, get, key_of, read_counters, run, set, words, zero_counters};
use crate::frame::{EXTENSION_PORT, INT_MD_MARK, MARK};
use crate::icmp::{FAMILIES, Family, Host};
use crate::model::Key;

/// What is fixed at load.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub room: u32,
    pub fixed_mtu: u32,
    pub max_hops: u32,
    pub without_queue: bool,
    /// More flags of the watched host in the watchlist.
    pub watch_flags: u32,
    /// The state of the lease of the pair, if there is one.
    pub lease: Option<source_lease>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            room: 36,
            fixed_mtu: 1500,
            max_hops: 0,
            without_queue: false,
            watch_flags: 0,
            lease: Some(lease_in(lease_state::LEASE_GRANTED)),
        }
    }
}

/// A lease of version 1 in this state.
pub fn lease_in(state: lease_state) -> source_lease {
    source_lease {
        state: state.0,
        ..source_lease::default()
    }
}

/// As leases and flows have an address: IPv4 is mapped.
fn mapped(address: IpAddr) -> [u32; 4] {
    words(match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    })
}

fn address_of(family: Family, host: Host) -> IpAddr {
    let address = family.address(host);
    match <[u8; 4]>::try_from(&*address) {
        Ok(v4) => v4.into(),
        Err(_) => <[u8; 16]>::try_from(&*address)
            .expect("an IPv6 address")
            .into(),
    }
}

pub struct Peer {
    skel: PeerSkel<'static>,
}

impl Peer {
    /// Watches one host, by the address that it has in each family.
    pub fn load(options: &Options) -> Self {
        Self::load_beside(options, None)
    }

    /// A program on another interface of the same host remembers SYNs for both.
    pub fn load_beside(options: &Options, other: Option<&Self>) -> Self {
        let object = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = PeerSkelBuilder::default()
            .open(object)
            .expect("the object is well-formed");
        let rodata = open.maps.rodata_data.as_deref_mut().expect("has rodata");
        let features = Features::probe();
        rodata.have_check_mtu = features.check_mtu;
        rodata.have_kernel_ctx = features.kernel_ctx;
        rodata.have_kernel_reads = features.kernel_reads;
        rodata.room_ipv4 = options.room;
        rodata.room_ipv6 = options.room;
        rodata.max_hops = options.max_hops;
        rodata.without_queue = options.without_queue;
        rodata.fixed_mtu = match options.fixed_mtu {
            // Before 5.12 the loader asks the device instead of the program.
            0 if !features.check_mtu => 0xffff,
            fixed => fixed,
        };
        rodata.tos_value = MARK;
        rodata.tos_mask = MARK;
        (rodata.md_tos_value, rodata.md_tos_mask) = INT_MD_MARK;
        rodata.extension_port = EXTENSION_PORT.to_be();
        if let Some(other) = other {
            let shared = open
                .maps
                .peer_syns
                .reuse_fd(other.skel.maps.peer_syns.as_fd());
            shared.expect("a map of the same shape");
        }
        let skel = open.load().expect("loads as root");
        let mut state = watch_state::default();
        for family in FAMILIES {
            let address = address_of(family, Host::Watched);
            if let Some(lease) = options.lease {
                let pair = address_pair {
                    saddr: mapped(address_of(family, Host::Source)),
                    daddr: mapped(address),
                };
                set(&skel.maps.source_leases, bytes_of(&pair), &lease);
            }
            let len = if address.is_ipv4() { 32 } else { 128 };
            let place = watch_place {
                number: 0,
                flags: watch_flag::WATCH_MAY.0 | options.watch_flags,
            };
            match address {
                IpAddr::V4(v4) => {
                    let addr = u32::from_ne_bytes(v4.octets());
                    let key = watch_key4 { what: len, addr };
                    set(&skel.maps.watch_places4, bytes_of(&key), &place);
                }
                IpAddr::V6(v6) => {
                    let addr = words(v6.octets());
                    let key = watch_key6 { what: len, addr };
                    set(&skel.maps.watch_places6, bytes_of(&key), &place);
                }
            }
            let search = &mut state.searches[usize::from(address.is_ipv6())];
            search.first = 1;
            search.probes[1].len = len as u8;
            search.probes[1].mask = [u32::MAX; 4];
        }
        set(&skel.maps.watch_state, bytes_of(&0u32), &state);
        Peer { skel }
    }

    /// As if the source had tagged packets of the flow.
    pub fn add_flow(&self, key: &Key) {
        let flow = source_flow::default();
        set(&self.skel.maps.source_flows, bytes_of(&key_of(key)), &flow);
    }

    /// What the source is to know of the flow's path, 0: nothing.
    pub fn path_mtu(&self, key: &Key) -> u32 {
        let flow: Option<source_flow> = get(&self.skel.maps.source_flows, bytes_of(&key_of(key)));
        flow.expect("a flow").path_mtu
    }

    pub fn run(&self, frame: &[u8]) -> Ran {
        run(&self.skel.progs.source_peer, frame, None)
    }

    /// As if the next SYN were the first one.
    pub fn forget_syns(&self) {
        let syns = &self.skel.maps.peer_syns;
        let none = vec![0; syns.value_size() as usize];
        for place in syns.keys() {
            let told = syns.update(&place, &none, MapFlags::ANY);
            told.expect("an array has all its places");
        }
    }

    pub fn counters(&self) -> Vec<(u64, u64)> {
        read_counters(
            &self.skel.maps.peer_counters,
            peer_counter::COUNT_PEER_MAX.0,
        )
    }

    pub fn zero_counters(&self) {
        zero_counters(
            &self.skel.maps.peer_counters,
            peer_counter::COUNT_PEER_MAX.0,
        );
    }
}
