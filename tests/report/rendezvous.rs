//! Each flow has its collector, whichever sink reports it.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use hostint::model::{FlowHash, FlowKey, Vlans};
use hostint::report::rendezvous::{choose, identity, mix};

const FLOWS: u32 = 100_000;

fn flow(n: u32) -> FlowKey {
    let [a, b, c, d] = n.to_be_bytes();
    FlowKey {
        src: [10, a, b, c].into(),
        dst: [10, 255, 0, d % 16].into(),
        sport: 1024 + u16::from(d),
        dport: 443,
        protocol: 6,
        vlans: Vlans::NONE,
    }
}

fn back(flow: FlowKey) -> FlowKey {
    FlowKey {
        src: flow.dst,
        dst: flow.src,
        sport: flow.dport,
        dport: flow.sport,
        ..flow
    }
}

fn collectors(count: u8) -> Vec<SocketAddr> {
    let v4 = |n| SocketAddr::from(([192, 0, 2, n], 32766));
    let port = |n| SocketAddr::from(([192, 0, 2, 1], 32766 + u16::from(n)));
    let v6 = |n| SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, n], 32766));
    let kinds = |n| match n % 3 {
        0 => v4(n),
        1 => port(n),
        _ => v6(n.into()),
    };
    (1..=count).map(kinds).collect()
}

fn place(flow: &FlowKey, among: &[SocketAddr]) -> Option<SocketAddr> {
    let identities = among.iter().map(|collector| identity(*collector));
    choose(FlowHash::of(flow).0, identities).map(|place| among[place])
}

#[test]
fn each_collector_has_its_share_and_both_directions_of_a_flow() {
    for count in [1, 2, 3, 5, 16] {
        let all = collectors(count);
        let mut reversed = all.clone();
        reversed.reverse();
        let mut shares = BTreeMap::<_, u32>::new();
        for flow in (0..FLOWS).map(flow) {
            let at = place(&flow, &all);
            assert_eq!(place(&back(flow), &all), at, "{flow}: there and back");
            assert_eq!(place(&flow, &reversed), at, "{flow}: any order");
            *shares.entry(at).or_default() += 1;
        }
        assert_eq!(shares.len(), all.len());
        let fair = FLOWS / u32::from(count);
        for share in shares.into_values() {
            let off = share.abs_diff(fair);
            assert!(off < fair / 20, "of {count}: {share} instead of {fair}");
        }
    }
}

#[test]
fn a_collector_that_goes_moves_its_own_flows_only() {
    let all = collectors(7);
    for gone in &all {
        let rest: Vec<_> = all.iter().copied().filter(|one| one != gone).collect();
        let mut heirs = BTreeMap::<_, u32>::new();
        for flow in (0..FLOWS / 10).map(flow) {
            let (before, now) = (place(&flow, &all), place(&flow, &rest));
            if before == Some(*gone) {
                *heirs.entry(now).or_default() += 1;
            } else {
                assert_eq!(now, before, "{flow} when {gone} goes");
            }
        }
        assert_eq!(heirs.len(), rest.len(), "all of them inherit of {gone}");
    }
}

#[test]
fn weights_never_change_or_sinks_of_two_versions_would_differ() {
    assert_eq!(choose(1, std::iter::empty()), None);
    let known = [
        (
            SocketAddr::from(([192, 0, 2, 9], 32766)),
            0x30fa_1dd4_1625_3561,
        ),
        (
            SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, 9], 1)),
            0xaf07_8f7e_df85_d853,
        ),
    ];
    for (address, expected) in known {
        let found = identity(address);
        assert_eq!(found, expected, "{address}: {found:#x}");
    }
    assert_eq!(mix(1), 0x5692_161d_100b_05e5);
}
