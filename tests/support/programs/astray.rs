//! The loaded watcher of interfaces without a sink.

use std::mem::MaybeUninit;
use std::net::IpAddr;

use hostint::datapath::abi::astray_object::{AstraySkel, AstraySkelBuilder};
use hostint::datapath::abi::{astray_count, bytes_of, sink_settings};
use hostint::datapath::kernel::probe::Features;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};

use super::{get, prefix_key, run, set};
use crate::frame::{EXTENSION_PORT, MARK};

/// BPF_PROG_RUN runs programs on loopback.
const LOOPBACK: u32 = 1;

pub struct Watcher {
    skel: AstraySkel<'static>,
}

impl Watcher {
    /// A watcher on loopback, whose host strips the packets of this address.
    pub fn load(allowed: &[IpAddr]) -> Self {
        let object = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = AstraySkelBuilder::default()
            .open(object)
            .expect("the object is well-formed");
        let rodata = open.maps.rodata_data.as_deref_mut().expect("has rodata");
        let features = Features::probe();
        rodata.have_kernel_ctx = features.kernel_ctx;
        rodata.have_kernel_reads = features.kernel_reads;
        rodata.have_coarse_clock = features.coarse_clock;
        let skel = open.load().expect("loads as root");
        let settings = sink_settings {
            tos_value: MARK,
            tos_mask: MARK,
            extension_port: EXTENSION_PORT.to_be(),
            ..sink_settings::default()
        };
        set(&skel.maps.sink_settings, bytes_of(&0u32), &settings);
        for address in allowed {
            let bits = if address.is_ipv4() { 32 } else { 128 };
            let key = prefix_key(*address, bits);
            set(&skel.maps.sink_allow, bytes_of(&key), &1u32);
        }
        let none = astray_count::default();
        set(&skel.maps.sink_astray_counts, bytes_of(&LOOPBACK), &none);
        Watcher { skel }
    }

    /// Runs it on a frame, which it must pass on unchanged, and returns whether it counted the packet.
    pub fn counts(&self, frame: &[u8]) -> bool {
        let count = || -> u64 {
            let counts = &self.skel.maps.sink_astray_counts;
            let count: Option<astray_count> = get(counts, bytes_of(&LOOPBACK));
            count.expect("loopback is watched").packets
        };
        let before = count();
        let ran = run(&self.skel.progs.sink_astray, frame, None);
        assert_eq!(ran.verdict, super::source::TCX_NEXT);
        assert_eq!(ran.bytes, frame, "a watcher changes nothing");
        count() > before
    }
}
