//! The watcher of interfaces without a sink counts tagged packets for this host, and no others.

use std::net::IpAddr;

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
