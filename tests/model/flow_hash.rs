//! A flow and the one back have one hash, which no version changes.

use std::net::IpAddr;

use hostint::model::{FlowHash, FlowKey, Vlans};

fn flow<A: Into<IpAddr>>(src: A, sport: u16, dst: A, dport: u16, protocol: u8) -> FlowKey {
    FlowKey {
        src: src.into(),
        dst: dst.into(),
        sport,
        dport,
        protocol,
        vlans: Vlans::NONE,
    }
}

const ONE: [u8; 4] = [10, 0, 0, 1];
const TWO: [u8; 4] = [10, 0, 0, 2];
const SIX_ONE: [u16; 8] = [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1];
const SIX_TWO: [u16; 8] = [0x2001, 0xdb8, 0, 0, 0, 0, 0, 2];

#[test]
fn a_flow_and_the_one_back_are_one_number_that_never_changes() {
    struct Case {
        name: &'static str,
        there: FlowKey,
        back: FlowKey,
        hash: u64,
    }
    let cases = [
        Case {
            name: "IPv4",
            there: flow(ONE, 40_000, TWO, 443, 6),
            back: flow(TWO, 443, ONE, 40_000, 6),
            hash: 0x87e3_1272_6d49_683f,
        },
        Case {
            name: "one address on both sides: ports tell the ends apart",
            there: flow(ONE, 2, ONE, 1, 17),
            back: flow(ONE, 1, ONE, 2, 17),
            hash: 0xa372_a439_740a_723c,
        },
        Case {
            name: "IPv6",
            there: flow(SIX_ONE, 1, SIX_TWO, 65_535, 17),
            back: flow(SIX_TWO, 65_535, SIX_ONE, 1, 17),
            hash: 0x9f85_a4a1_2e4a_8110,
        },
    ];
    for case in cases {
        let mut tagged = case.back;
        tagged.vlans.inner = 7;
        for flow in [case.there, case.back, tagged] {
            assert_eq!(FlowHash::of(&flow).0, case.hash, "{}", case.name);
        }
        let mut other = case.there;
        other.protocol = 132;
        assert_ne!(FlowHash::of(&other).0, case.hash, "{}: protocol", case.name);
    }
}
