//! The names of hosts beside their IDs: whose counts, and which are contested.

use std::net::IpAddr;

use hostint::model::host_names::of_nodes;
use hostint::model::{ClaimOrigin, NameClaim, NameOrigin, NodeId};

const MINUTE: u64 = 60_000_000_000;
const NOW: u64 = 1_000 * MINUTE;

fn claim(node: u32, name: &str, origin: ClaimOrigin, minutes_ago: u64) -> NameClaim {
    NameClaim {
        node: NodeId(node),
        name: name.to_owned(),
        origin,
        heard_ns: NOW - minutes_ago * MINUTE,
    }
}

fn told(address: u8, instance: u64) -> ClaimOrigin {
    let address = IpAddr::from([192, 0, 2, address]);
    ClaimOrigin::Told { address, instance }
}

#[test]
fn a_name_is_the_given_one_or_the_one_told_last() {
    let own = ClaimOrigin::Own { instance: 9 };
    let (given, one, other) = (ClaimOrigin::Given, told(1, 1), told(2, 1));
    for (sentence, claims, names) in [
        ("nothing is known", vec![], vec![]),
        (
            "told",
            vec![claim(7, "web", one, 0)],
            vec![(7, "web", false)],
        ),
        ("an empty name is none", vec![claim(7, "", one, 0)], vec![]),
        (
            "told by two addresses of one host",
            vec![claim(7, "web", one, 0), claim(7, "web", other, 0)],
            vec![(7, "web", false)],
        ),
        (
            "renamed, which one address has told already",
            vec![claim(7, "new", one, 0), claim(7, "old", other, 5)],
            vec![(7, "new", false)],
        ),
        (
            "the user knows better",
            vec![claim(7, "db", given, 900), claim(7, "web", one, 0)],
            vec![(7, "db", false)],
        ),
        (
            "two nodes tell one name",
            vec![claim(7, "web", one, 0), claim(8, "web", told(3, 3), 19)],
            vec![(7, "web", true), (8, "web", true)],
        ),
        (
            "one of them told it long ago",
            vec![claim(7, "web", one, 0), claim(8, "web", told(3, 3), 20)],
            vec![(7, "web", false), (8, "web", false)],
        ),
        (
            "two hosts have one ID",
            vec![claim(7, "web", one, 0), claim(7, "web", told(2, 2), 1)],
            vec![(7, "web", true)],
        ),
        (
            "another host tells the name of this one",
            vec![claim(1, "me", own, 0), claim(7, "me", one, 0)],
            vec![(1, "me", true), (7, "me", true)],
        ),
        (
            "a name that the user gave is not contested by who tells it",
            vec![claim(7, "web", given, 0), claim(8, "web", one, 0)],
            vec![(7, "web", false), (8, "web", false)],
        ),
    ] {
        let found = of_nodes(&claims, NOW);
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.node.0, &*one.name, one.contested))
            .collect();
        assert_eq!(found, names, "{sentence}");
    }
    let found = of_nodes(&[claim(7, "db", given, 0), claim(8, "web", one, 0)], NOW);
    assert_eq!(found[0].origin, NameOrigin::Given);
    assert_eq!(found[1].origin, NameOrigin::Told);
}
