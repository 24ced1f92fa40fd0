//! A sink that grants leases, at both of its hooks, and the addresses of the packets that it is asked about.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hostint::datapath::abi::sink_counter;
use hostint::model::LeaseKey;

use super::programs::Ran;
use super::programs::sink::{Sink, Sizes, TCX_DROP, XDP_DROP, XDP_PASS, settings};
use super::programs::source::TCX_NEXT;

pub const KEY: LeaseKey = LeaseKey(*b"sixteen bytes of");

/// Where the sink's program hangs.
pub struct Hook {
    pub name: &'static str,
    pub run: fn(&Sink, &[u8]) -> Ran,
    pub pass: i32,
    pub drop: i32,
}

pub static HOOKS: [Hook; 2] = [
    Hook {
        name: "XDP",
        run: Sink::run,
        pass: XDP_PASS,
        drop: XDP_DROP,
    },
    Hook {
        name: "TC",
        run: Sink::run_tc,
        pass: TCX_NEXT,
        drop: TCX_DROP,
    },
];

/// Source and destination of the builder's packets.
pub fn addresses(v6: bool) -> (IpAddr, IpAddr) {
    if v6 {
        let last = |net, host| Ipv6Addr::new(0x2001, 0xdb8, net, 0, 0, 0, 0, host);
        (last(0, 1).into(), last(1, 2).into())
    } else {
        let (source, dest) = ([192, 0, 2, 1], [198, 51, 100, 2]);
        (Ipv4Addr::from(source).into(), Ipv4Addr::from(dest).into())
    }
}

/// Allows nobody to tag packets without a lease.
pub fn leasing_sink(sizes: Sizes) -> Sink {
    let sink = Sink::load_sized(&settings(), Sizes { tc: true, ..sizes });
    sink.set_lease_key(KEY);
    sink.allow_nobody();
    sink
}

/// Only these packets and bytes were counted.
pub fn assert_counted(sink: &Sink, counted: &[(sink_counter, u64, u64)], sentence: &str) {
    let mut all = vec![(0, 0); sink_counter::COUNT_SINK_MAX.0 as usize];
    for (counter, packets, bytes) in counted {
        all[counter.0 as usize] = (*packets, *bytes);
    }
    assert_eq!(sink.counters(), all, "{sentence}: counters");
}
