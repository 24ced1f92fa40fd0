//! The table of all flows in doubt is as a list that is searched from its begin to its end.

use hostint::lease::DoubtedFlows;
use hostint::model::{FlowKey, Vlans};
use hostint_testing::random::Random;

/// One of a few thousand flows, in one of three VLANs.
fn any_flow(random: &mut Random) -> FlowKey {
    let mut vlans = Vlans::NONE;
    vlans.inner = random.below(3) as u16;
    FlowKey {
        src: [192, 0, 2, random.below(4) as u8].into(),
        dst: [198, 51, 100, random.below(4) as u8].into(),
        sport: 40_000 + random.below(64) as u16,
        dport: 443,
        protocol: random.pick(&[6, 17]),
        vlans,
    }
}

#[test]
fn flows_are_added_once_and_settled_in_each_vlan() {
    let (mut random, seed) = Random::from_env();
    let (mut table, mut list) = (DoubtedFlows::default(), Vec::<FlowKey>::new());
    let (mut cleared, mut settled) = (0, 0);
    for step in 0..100_000 {
        let flow = any_flow(&mut random);
        if random.one_in(1_000) {
            table.make_room();
            if list.len() == DoubtedFlows::MOST {
                list.clear();
                cleared += 1;
            }
        } else if random.one_in(6) {
            let (pair, asked) = DoubtedFlows::question(&flow);
            let is_meant = |flow: &mut FlowKey| DoubtedFlows::question(flow) == (pair, asked);
            let expected: Vec<_> = list.extract_if(.., is_meant).collect();
            settled += expected.len();
            let found = table.settle(pair, asked);
            assert_eq!(found, expected, "seed {seed}, step {step}");
        } else {
            table.add(flow);
            if !list.contains(&flow) && list.len() < DoubtedFlows::MOST {
                list.push(flow);
            }
        }
    }
    assert!(cleared > 0 && settled > 1_000, "{cleared}, {settled}");
}
