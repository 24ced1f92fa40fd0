//! A flow's record remembers its lease at the source for a while; what closes the lease, and a new watchlist, hold from the next
//! packet on.

use std::net::{IpAddr, Ipv4Addr};

use hostint::datapath::abi::lease_way;
use hostint::datapath::kernel::maps::Map;
use hostint::datapath::lease::leases::Leases;
use hostint::datapath::lease::renewal::Renewal;
use hostint::model::{AddressPair, Lease, Prefix, RuleHost, WatchRule, Ways};
use hostint_testing::packets::udp;
use hostint_testing::programs::Shared;
use hostint_testing::programs::source::{Hook, Options, Source};
use hostint_testing::under_traffic::change_under_traffic;

const PAIR: AddressPair = AddressPair {
    source: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
    dest: IpAddr::V4(Ipv4Addr::new(198, 51, 100, 2)),
};

/// The daemon's side of a source's leases.
struct Keeper {
    leases: Leases,
    renewal: Renewal,
}

impl Keeper {
    fn of(source: &Source) -> Self {
        let table = Map::of(source.leases_map()).expect("as built");
        let leases = Leases::of(table, source.leases_serial());
        let renewal = Renewal::load(&leases).expect("loads as root");
        Keeper { leases, renewal }
    }

    fn renew(&self, change: impl FnOnce(&mut Lease)) {
        let entry = self.leases.get(&PAIR).expect("can be read");
        let mut lease = entry.expect("there is a lease").lease;
        change(&mut lease);
        let renewed = self.renewal.renew(&[(PAIR, lease)]);
        assert_eq!(renewed.expect("runs as root"), 1, "the lease is known");
    }

    fn remove(&self) {
        assert!(self.leases.remove(&PAIR).expect("runs as root"), "is there");
    }
}

type Case = (&'static str, fn(&Keeper), bool);
/// What happens between two packets of a flow, and whether the second one is tagged.
const CASES: [Case; 7] = [
    ("nothing", |_| (), true),
    (
        "the lease is renewed",
        |keeper| keeper.renew(|lease| lease.answered_ns += 1),
        true,
    ),
    (
        "a way of other flows is closed",
        |keeper| keeper.renew(|lease| lease.proof.ways = Ways::from_bits(lease_way::WAY_UDP_GPE.0)),
        true,
    ),
    (
        "the flow's way is closed",
        |keeper| keeper.renew(|lease| lease.proof.ways = Ways::from_bits(lease_way::WAY_TCP_GPE.0)),
        false,
    ),
    (
        "the lease has ended",
        |keeper| keeper.renew(|lease| lease.until_ns = 1),
        false,
    ),
    ("the lease is removed", Keeper::remove, false),
    (
        "another lease of no end is written",
        |keeper| {
            let entry = keeper.leases.get(&PAIR).expect("can be read");
            let mut entry = entry.expect("there is a lease");
            entry.lease.until_ns = 1;
            keeper.leases.set(&PAIR, &entry).expect("runs as root");
        },
        false,
    ),
];

/// Ways of the programs: the straight one, in general, and that of kernels before 5.12.
fn kinds() -> [(&'static str, Options); 3] {
    let auto = || Options {
        tunnel: true,
        ..Options::default()
    };
    [
        ("straight", auto()),
        (
            "general",
            Options {
                straight: false,
                ..auto()
            },
        ),
        (
            "locked",
            Options {
                atomics: false,
                ..auto()
            },
        ),
    ]
}

fn is_tagged(source: &Source) -> bool {
    let frame = udp().bytes();
    source.run(&frame).bytes != frame
}

/// Rules that watch one prefix.
fn rules(prefix: Ipv4Addr, len: u8) -> Vec<WatchRule> {
    let prefix = Prefix::new(prefix, len).expect("a prefix");
    let place = RuleHost {
        text: prefix.to_string(),
        prefixes: vec![prefix],
    };
    vec![WatchRule::of_dest(place, true)]
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn what_closes_a_lease_holds_from_the_next_packet_on() {
        for (way, options) in kinds() {
            for (name, change, tagged) in CASES {
                let name = format!("{way}: {name}");
                let mut source = Source::load_watching_nothing(&options);
                source.watch_leased(Ipv4Addr::UNSPECIFIED, 0);
                let key = source.model.look(&udp().bytes()).expect("may be tagged");
                source.set_ways(&key, 63);
                for packet in 1..=3 {
                    assert!(is_tagged(&source), "{name}: packet {packet}");
                }
                change(&Keeper::of(&source));
                for packet in 4..=5 {
                    assert_eq!(is_tagged(&source), tagged, "{name}: packet {packet}");
                }
            }
        }
    }

    #[test]
    fn a_watchlist_changed_under_traffic_holds_at_once() {
        for (way, options) in kinds() {
            let source = Source::load_watching_nothing(&options);
            let (list, program) = (source.watchlist(), Shared(source.program(Hook::Tc)));
            let is_tagged = || {
                let frame = udp().bytes();
                program.run(&frame).bytes != frame
            };
            let ran = change_under_traffic(40, &is_tagged, |round| {
                let rules = match round % 4 {
                    1 => rules(Ipv4Addr::new(198, 51, 100, 0), 24),
                    3 => rules(Ipv4Addr::new(198, 51, 100, 2), 32),
                    _ => rules(Ipv4Addr::new(203, 0, 113, 0), 24),
                };
                list.replace(&rules).expect("there is room");
            });
            assert_eq!(ran, Ok(()), "{way}: is it tagged?");
        }
    }
}
