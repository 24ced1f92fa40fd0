//! The watcher of interfaces without a sink counts tagged packets for this host, and no others.

use std::net::IpAddr;

use hostint::datapath::sink::astray::without_sink;
use hostint::os::rtnetlink::InterfaceState;
use hostint_testing::frame::{TCP, UDP};
use hostint_testing::icmp::{
    CARRIERS, FAMILIES, Family, Host, ethernet, mend_header, original, tagged,
};

/// The frame as loopback's own, for this host.
fn to_this_host(family: Family, mut ip: Vec<u8>) -> Vec<u8> {
    match family {
        Family::V4 => {
            ip[16..20].copy_from_slice(&[127, 0, 0, 1]);
            mend_header(&mut ip);
        }
        Family::V6 => {
            ip[24..40].fill(0);
            ip[39] = 1;
        }
    }
    let mut frame = ethernet(0, &ip);
    frame[..6].fill(0);
    frame
}

fn source(family: Family) -> IpAddr {
    let address = family.address(Host::Source);
    match <[u8; 4]>::try_from(&*address) {
        Ok(v4) => v4.into(),
        Err(_) => <[u8; 16]>::try_from(&*address)
            .expect("an IPv6 address")
            .into(),
    }
}

#[test]
fn interfaces_without_a_sink_are_watched_as_long_as_there_is_a_sink() {
    let up = InterfaceState {
        up: true,
        ..InterfaceState::default()
    };
    let of_kind = |kind: &str| InterfaceState {
        kind: Some(kind.to_owned()),
        ..up.clone()
    };
    let loopback = InterfaceState {
        loopback: true,
        ..up.clone()
    };
    let below_2 = InterfaceState {
        lower: Some(2),
        ..of_kind("macvlan")
    };
    let port_of_3 = InterfaceState {
        master: Some(3),
        ..up.clone()
    };
    let two = [(1, loopback), (2, up.clone()), (3, up.clone())];
    let down = [(2, up.clone()), (3, InterfaceState::default())];
    let macvlan = [(2, up.clone()), (3, below_2)];
    let bridge = [(2, port_of_3.clone()), (3, of_kind("bridge"))];
    let vrf = [(2, port_of_3), (3, of_kind("vrf"))];
    for (sentence, interfaces, sinks, watched) in [
        ("one of two has a sink", &two[..], &[2][..], &[3][..]),
        ("both have a sink", &two, &[2, 3], &[]),
        ("the last sink was detached", &two, &[], &[]),
        ("an interface is down", &down, &[2], &[]),
        (
            "a macvlan hands on what its sink strips",
            &macvlan,
            &[3],
            &[],
        ),
        ("a bridge stands for its port", &bridge, &[9], &[3]),
        ("a VRF does not", &vrf, &[9], &[2, 3]),
    ] {
        assert_eq!(without_sink(interfaces, sinks), watched, "{sentence}");
    }
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use hostint_testing::programs::astray::Watcher;

    #[test]
    fn tagged_packets_for_this_host_are_counted() {
        let ours = Watcher::load(&FAMILIES.map(source));
        let strangers = Watcher::load(&[]);
        for family in FAMILIES {
            for protocol in [TCP, UDP] {
                let plain = to_this_host(family, original(family, protocol));
                assert!(!ours.counts(&plain), "plain, {family:?}, {protocol}");
                for carrier in CARRIERS {
                    let sentence = format!("{carrier:?}, {family:?}, {protocol}");
                    let frame = to_this_host(family, tagged(carrier, family, protocol));
                    assert!(ours.counts(&frame), "{sentence}");
                    assert!(!strangers.counts(&frame), "{sentence}: without a lease");
                    let mut other = frame.clone();
                    other[0] = 2;
                    assert!(!ours.counts(&other), "{sentence}: for another station");
                    for len in [54, 62, 70] {
                        assert!(!ours.counts(&frame[..len]), "{sentence}: cut to {len}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_only_looks_tagged_is_not_counted() {
        let watcher = Watcher::load(&FAMILIES.map(source));
        for family in FAMILIES {
            for carrier in CARRIERS {
                let frame = to_this_host(family, tagged(carrier, family, UDP));
                // The block's type, behind the UDP header; vxlan-gpe has its flags there.
                let mut damaged = frame.clone();
                damaged[14 + family.header_len() + 8] ^= 0x40;
                assert!(
                    !watcher.counts(&damaged),
                    "{carrier:?}, {family:?}: damaged"
                );
            }
        }
    }
}
