//! The loaded program for what comes back to a source.

use std::mem::MaybeUninit;

use hostint::datapath::abi::peer_object::{PeerSkel, PeerSkelBuilder};
use hostint::datapath::abi::{
    bytes_of, dest_flag, dest_key, dest_value, peer_counter, source_flow,
};
use hostint::datapath::probe::Features;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};

use super::{Ran, get, key_of, read_counters, run, set, zero_counters};
use crate::support::frame::{EXTENSION_PORT, MARK};
use crate::support::icmp::{FAMILIES, Family, Host};
use crate::support::model::Key;

/// What is fixed at load.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub room: u32,
    pub fixed_mtu: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            room: 36,
            fixed_mtu: 1500,
        }
    }
}

pub struct Peer {
    skel: PeerSkel<'static>,
}

impl Peer {
    /// Watches one host, by the address that it has in each family.
    pub fn load(options: &Options) -> Self {
        let object = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = PeerSkelBuilder::default()
            .open(object)
            .expect("the object is well-formed");
        let rodata = open.maps.rodata_data.as_deref_mut().expect("has rodata");
        let features = Features::probe();
        rodata.have_check_mtu = features.check_mtu;
        rodata.have_kernel_ctx = features.kernel_ctx;
        rodata.room_ipv4 = options.room;
        rodata.room_ipv6 = options.room;
        rodata.fixed_mtu = match options.fixed_mtu {
            // Before 5.12 the loader asks the device instead of the program.
            0 if !features.check_mtu => 0xffff,
            fixed => fixed,
        };
        rodata.tos_value = MARK;
        rodata.tos_mask = MARK;
        rodata.extension_port = EXTENSION_PORT.to_be();
        let skel = open.load().expect("loads as root");
        for family in FAMILIES {
            let mut bytes = [0; 16];
            let address = family.address(Host::Watched);
            bytes[..address.len()].copy_from_slice(&address);
            let mut key = dest_key {
                prefix_len: 32 + 8 * address.len() as u32,
                family: if family == Family::V4 { 4u32 } else { 6 }.to_be(),
                addr: [0; 4],
            };
            for (word, four) in key.addr.iter_mut().zip(bytes.chunks(4)) {
                *word = u32::from_ne_bytes(four.try_into().expect("four bytes"));
            }
            let name = dest_value {
                name: [0; 64],
                flags: dest_flag::DEST_STATIC.0,
            };
            set(&skel.maps.source_dests, bytes_of(&key), &name);
        }
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
