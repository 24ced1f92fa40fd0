//! The source proves paths before it tags packets: verdicts over a simulated network, and the times that they take.

use std::net::IpAddr;

use hostint::lease::{LeaseUpdate, OwnTagging, Tagging};
use hostint::model::{
    AddressPair, ClockSteering, Encapsulation, Encapsulations, LeaseCounts, LeaseState, NodeId,
    PathProof, ProbeForm, Transport, TunnelObstacle, Ways,
};

use hostint::views::peers::sentence;
use hostint_testing::random::Random;

use crate::network::{MARKS, MS, Network, OTHER_HOST, PAIR, Path, Sink};

pub fn configured(explicit: Option<Encapsulation>) -> OwnTagging {
    let sent = explicit.unwrap_or(Encapsulation::OverTcpUdp);
    OwnTagging {
        node: NodeId(1),
        tagging: vec![Tagging {
            encapsulations: Encapsulations::default().with(sent),
            marks: MARKS,
            explicit,
            max_hops: 4,
            int_tos_value: 0x5c,
            is_mx: false,
        }],
    }
}

fn network(explicit: Option<Encapsulation>, path: Path) -> Network {
    Network::new(configured(explicit), path, Sink::default(), 1)
}

fn proof(network: &Network) -> PathProof {
    network.keeper.lease(&PAIR).expect("it is kept").proof
}

fn state(network: &Network) -> LeaseState {
    network.keeper.lease(&PAIR).expect("it is kept").state
}

const OVER: Option<Encapsulation> = Some(Encapsulation::OverTcpUdp);
const INT_MD: Option<Encapsulation> = Some(Encapsulation::IntMd);
const EXTENSION: Option<Encapsulation> = Some(Encapsulation::ExtensionUdp);
const GPE: Option<Encapsulation> = Some(Encapsulation::VxlanGpe);

#[test]
fn packets_go_in_int_mx_only_while_the_sink_says_that_it_takes_it() {
    let ways_in = |is_mx: bool, int_mx: bool| {
        let mut network = network(INT_MD, Path::default());
        let mut ours = configured(INT_MD);
        ours.tagging[0].is_mx = is_mx;
        network.keeper.set_ours(ours);
        network.sink.int_mx = int_mx;
        network.prove(5_000).expect("the path is proved");
        network
    };
    let way = Ways::of(Transport::Udp, Encapsulation::IntMd);
    let has = |network: &Network| proof(network).ways.contains(way);
    assert!(has(&ways_in(false, false)), "int-md itself");
    assert!(has(&ways_in(true, true)), "the sink takes it");
    let mut network = ways_in(true, false);
    assert!(!has(&network), "the sink does not take it");
    network.sink.int_mx = true;
    network.sink.digest += 1;
    network.pass(120_000);
    assert!(has(&network), "a newer sink does");
    network.sink.int_mx = false;
    network.sink.digest += 1;
    network.pass(2_000);
    assert!(!has(&network), "an older one took its place");
}

/// The numbers of a sink's strays by kind.
const SEGMENTS: [u8; 4] = [0, 2, 4, 6];
const ANSWERED_SYNS: [u8; 4] = [1, 3, 5, 7];
const DATAGRAMS: [u8; 4] = [8, 9, 10, 11];

/// The packets that a pair tags: a few at each look.
fn use_pair(network: &mut Network, tagged: &mut u64, ms: u64) {
    for _ in 0..ms / 50 {
        *tagged += 4;
        network.sink.stripped[2] += 4;
        network.note_counts(LeaseCounts {
            tagged: [0, 0, *tagged],
            ..LeaseCounts::default()
        });
        network.pass(50);
    }
}

#[test]
fn without_strays_of_each_kind_from_the_sinks_host_nothing_is_tunnelled() {
    let eats = |numbers: &[u8]| Path {
        eaten_back: numbers.to_vec(),
        ..Path::default()
    };
    let all: Vec<u8> = (0..ProbeForm::STRAYS_BACK).collect();
    let both_eaten = Path {
        eaten: vec![ProbeForm::Stray],
        ..eats(&all)
    };
    let translates = Path {
        reverse_from: Some(OTHER_HOST),
        ..Path::default()
    };
    let forward = Path {
        eaten: vec![ProbeForm::Stray],
        ..Path::default()
    };
    for (name, path, obstacle, said) in [
        (
            "segments of no connection",
            eats(&SEGMENTS),
            "drops_from",
            "from it",
        ),
        (
            "answers to no SYN",
            eats(&ANSWERED_SYNS),
            "drops_from",
            "from it",
        ),
        (
            "datagrams that answer nothing",
            eats(&DATAGRAMS),
            "drops_from",
            "from it",
        ),
        ("one of several paths", eats(&[11]), "drops_from", "from it"),
        ("strays to the sink", forward, "drops_to", "to it"),
        (
            "strays of both directions",
            both_eaten,
            "drops_both",
            "to it and from it",
        ),
        (
            "addresses",
            translates,
            "translates",
            "translates packets from it",
        ),
    ] {
        for explicit in [None, OVER, EXTENSION, GPE] {
            let mut network = network(explicit, path.clone());
            network.prove(8_000).expect("the path is proved");
            let known = proof(&network);
            let tunnels = [Encapsulation::VxlanGpe, Encapsulation::ExtensionUdp];
            let open = tunnels.into_iter().any(|one| known.ways.has(one));
            assert!(!open, "{name}, {explicit:?}: {:?}", known.ways.names());
            assert_eq!(known.obstacle.name(), Some(obstacle), "{name}");
            let lease = network.keeper.lease(&PAIR).expect("it is kept");
            let sentence = sentence(lease);
            assert!(sentence.contains(said), "{name}: {sentence}");
            network.path = Path::default();
            network.pass(70_000);
            assert!(!proof(&network).ways.is_empty(), "{name}: proved again");
        }
    }
}

#[test]
fn strays_that_come_late_open_tunnels() {
    let path = Path {
        reverse_late_ms: 1_500,
        ..Path::default()
    };
    let mut network = network(None, path);
    network.prove(1_300).expect("the path is proved");
    assert!(proof(&network).ways.is_empty(), "no strays yet");
    network.pass(1_000);
    assert!(!proof(&network).ways.is_empty(), "they came");
    let opens = |one: &LeaseUpdate| one.changed && !one.lease.proof.ways.is_empty();
    assert!(network.updates.iter().any(opens), "the kernel is told");
}

#[test]
fn a_firewall_that_begins_later_closes_tunnels_while_packets_are_tagged() {
    for (name, to, back) in [
        ("answers", vec![], DATAGRAMS.to_vec()),
        ("answers to SYNs", vec![], ANSWERED_SYNS.to_vec()),
        ("what leaves a tunnel", vec![ProbeForm::Stray], vec![]),
    ] {
        let mut network = network(None, Path::default());
        network.prove(1_000).expect("the path is proved");
        let mut tagged = 0;
        use_pair(&mut network, &mut tagged, 30_000);
        assert!(!proof(&network).ways.is_empty(), "{name}: open");
        network.path.eaten = to;
        network.path.eaten_back = back;
        use_pair(&mut network, &mut tagged, 16_000);
        assert!(proof(&network).ways.is_empty(), "{name}: closed");
    }
}

#[test]
fn random_loss_of_strays_closes_no_tunnel_while_packets_are_tagged() {
    for (loss, most) in [(0.05, 0), (0.2, 1)] {
        let closed = (0..20).filter(|seed| {
            let path = Path {
                loss,
                ..Path::default()
            };
            let mut network = Network::new(configured(None), path, Sink::default(), *seed);
            network.prove(30_000).expect("it is proved");
            let mut tagged = 0;
            use_pair(&mut network, &mut tagged, 120_000);
            proof(&network).ways.is_empty()
        });
        let closed = closed.count();
        assert!(closed <= most, "{closed} of 20 pairs at a loss of {loss}");
    }
}

#[test]
fn a_daemon_that_ends_while_its_strays_are_awaited_closes_no_tunnel() {
    let mut network = network(None, Path::default());
    network.prove(1_000).expect("the path is proved");
    let mut tagged = 0;
    use_pair(&mut network, &mut tagged, 1_000);
    network.sink.stands_still = true;
    for second in 0..20 {
        use_pair(&mut network, &mut tagged, 1_000);
        // Answers tell of a daemon for three seconds after its end.
        if second == 2 {
            network.sink.daemon = false;
            network.sink.digest += 1;
        }
        assert!(!proof(&network).ways.is_empty(), "second {second}");
    }
}

#[test]
fn without_a_daemon_at_the_sink_tunnels_wait_until_one_can_show_that_its_packets_arrive() {
    struct Case {
        name: &'static str,
        explicit: Option<Encapsulation>,
        reverse_from: Option<IpAddr>,
        before: bool,
        after: bool,
    }
    let cases = [
        Case {
            name: "a plain path",
            explicit: None,
            reverse_from: None,
            before: false,
            after: true,
        },
        Case {
            name: "packets of the sink's host are translated",
            explicit: None,
            reverse_from: Some(OTHER_HOST),
            before: false,
            after: false,
        },
        Case {
            name: "the user chose the tunnel",
            explicit: GPE,
            reverse_from: None,
            before: false,
            after: true,
        },
    ];
    for case in cases {
        let name = case.name;
        let path = Path {
            reverse_from: case.reverse_from,
            ..Path::default()
        };
        let mut network = network(case.explicit, path);
        network.sink.daemon = false;
        network.pass(70_000);
        let known = proof(&network);
        assert_eq!(!known.ways.is_empty(), case.before, "{name}: without");
        assert_eq!(
            known.obstacle,
            TunnelObstacle::Unattended,
            "{name}: says so"
        );
        let lease = network.keeper.lease(&PAIR).expect("it is kept");
        let said = sentence(lease);
        assert!(
            said.contains("no daemon runs on its host"),
            "{name}: {said}"
        );
        network.sink.daemon = true;
        network.sink.digest += 1;
        network.pass(6_000);
        let known = proof(&network);
        assert_eq!(!known.ways.is_empty(), case.after, "{name}: with one");
        assert_ne!(
            known.obstacle,
            TunnelObstacle::Unattended,
            "{name}: with one"
        );
        // One that is started again soon changes nothing.
        network.sink.daemon = false;
        network.sink.digest += 1;
        network.pass(15_000);
        let known = proof(&network);
        assert_eq!(!known.ways.is_empty(), case.after, "{name}: after its end");
        network.pass(15_000);
        assert!(proof(&network).ways.is_empty(), "{name}: long after");
        network.sink.daemon = true;
        network.sink.digest += 1;
        network.pass(70_000);
        let known = proof(&network);
        assert_eq!(!known.ways.is_empty(), case.after, "{name}: another one");
    }
}

#[test]
fn each_network_gets_the_forms_that_it_passes() {
    struct Case {
        name: &'static str,
        explicit: Option<Encapsulation>,
        path: Path,
        ways: &'static [&'static str],
        eaten: &'static [&'static str],
        within_ms: u64,
    }
    let clean = Path::default;
    let lossy = |loss| Path { loss, ..clean() };
    let hole = |of| Path {
        ways: (of, 1),
        ..clean()
    };
    let eats = |eaten: &[ProbeForm]| Path {
        eaten: eaten.to_vec(),
        ..clean()
    };
    let both: &[&str] = &["tcp vxlan-gpe", "udp vxlan-gpe"];
    let case = |name, explicit, path, ways, eaten, within_ms| Case {
        name,
        explicit,
        path,
        ways,
        eaten,
        within_ms,
    };
    let cases = [
        case("a plain path", None, clean(), both, &[], 60),
        case("5 % loss", None, lossy(0.05), both, &[], 400),
        case("20 % loss", None, lossy(0.2), both, &[], 900),
        case(
            "a slow path",
            None,
            Path {
                rtt_ms: 200,
                ..clean()
            },
            both,
            &[],
            900,
        ),
        case(
            "every second path leads past the sink",
            None,
            hole(2),
            &[],
            &["vxlan-gpe", "stray packets"],
            600,
        ),
        case(
            "one of eight paths leads past the sink",
            None,
            hole(8),
            &[],
            &["vxlan-gpe"],
            600,
        ),
        case(
            "DSCP is rewritten, by default",
            None,
            Path {
                dscp: Some(0),
                ..clean()
            },
            both,
            &[],
            60,
        ),
        case(
            "DSCP is rewritten, with over-tcp-udp",
            OVER,
            Path {
                dscp: Some(0),
                ..clean()
            },
            both,
            &["over-tcp-udp"],
            600,
        ),
        case(
            "over-tcp-udp on a plain path",
            OVER,
            clean(),
            &["tcp vxlan-gpe", "udp over-tcp-udp", "udp vxlan-gpe"],
            &[],
            60,
        ),
        case(
            "int-md on a plain path",
            INT_MD,
            clean(),
            &["tcp vxlan-gpe", "udp vxlan-gpe", "udp int-md"],
            &[],
            60,
        ),
        case(
            "DSCP is rewritten, with int-md",
            INT_MD,
            Path {
                dscp: Some(0),
                ..clean()
            },
            both,
            &["int-md"],
            600,
        ),
        case(
            "a firewall eats UDP 4790",
            None,
            eats(&[ProbeForm::Gpe]),
            &[],
            &["vxlan-gpe"],
            600,
        ),
        case(
            "a stateful firewall drops connections that it did not see begin",
            None,
            eats(&[ProbeForm::Stray]),
            &[],
            &["stray packets"],
            600,
        ),
        case(
            "a router translates what the sink's host sends",
            None,
            Path {
                reverse_from: Some(OTHER_HOST),
                ..clean()
            },
            &[],
            &["stray packets"],
            1_500,
        ),
        case(
            "extension-udp that the user chose",
            EXTENSION,
            clean(),
            &[
                "tcp extension-udp",
                "tcp vxlan-gpe",
                "udp extension-udp",
                "udp vxlan-gpe",
            ],
            &[],
            60,
        ),
        case(
            "a narrow path that says nothing",
            None,
            Path {
                mtu: 1400,
                ..clean()
            },
            &["udp vxlan-gpe"],
            &[],
            2_500,
        ),
        case(
            "a path too narrow for long packets",
            None,
            Path {
                mtu: 1200,
                ..clean()
            },
            &[],
            &["vxlan-gpe"],
            4_000,
        ),
    ];
    for Case {
        name,
        explicit,
        path,
        ways,
        eaten,
        within_ms,
    } in cases
    {
        let mut network = network(explicit, path);
        let took = network.prove(5000);
        let took = took.unwrap_or_else(|| panic!("{name}: it is proved"));
        let found = proof(&network);
        println!("{name}: {took} ms, {:?}", found.ways.names());
        assert_eq!(found.ways.names(), ways, "{name}: ways");
        assert!(
            eaten.iter().all(|form| found.eaten.names().contains(form)),
            "{name}: eaten: {:?}",
            found.eaten.names()
        );
        assert_eq!(state(&network), LeaseState::Granted, "{name}");
        assert!(took <= within_ms, "{name}: {took} ms");
    }
}

#[test]
fn nothing_is_tagged_before_the_proof() {
    let mut network = network(None, Path::default());
    network.prove(5000).expect("it is proved");
    let mut before = network.updates.iter();
    let first = before.next().expect("a first answer");
    assert_eq!(first.lease.state, LeaseState::Granted, "it grants");
    assert_eq!(first.lease.proof.ways, Ways::NONE, "no form is open");
}

#[test]
fn extension_udp_takes_the_place_of_a_tunnel_that_does_not_pass() {
    let path = Path {
        eaten: vec![ProbeForm::Gpe],
        ..Path::default()
    };
    let mut network = network(None, path);
    network.pass(2000);
    let ways = proof(&network).ways.names();
    assert_eq!(ways, ["tcp extension-udp", "udp extension-udp"]);
}

#[test]
fn random_loss_hardly_ever_closes_a_form() {
    for (loss, most) in [(0.05, 0), (0.2, 1), (0.5, 60)] {
        let failed = (0..200).filter(|seed| {
            let path = Path {
                loss,
                ..Path::default()
            };
            let mut network = Network::new(configured(None), path, Sink::default(), *seed);
            network.prove(30_000).expect("it is proved");
            !proof(&network).eaten.is_empty()
        });
        let failed = failed.count();
        assert!(failed <= most, "{failed} of 200 proofs, loss {loss}");
    }
}

#[test]
fn a_hole_in_a_group_of_paths_is_found() {
    for of in [2, 4, 8] {
        let missed = (0..200).filter(|seed| {
            let path = Path {
                ways: (of, 1),
                ..Path::default()
            };
            let mut network = Network::new(configured(None), path, Sink::default(), *seed);
            network.prove(5000);
            !proof(&network).ways.is_empty()
        });
        assert!(missed.count() <= 1, "of 200 proofs with 1 of {of} paths");
    }
}

#[test]
fn a_sink_that_reads_stacks_is_known_as_long_as_it_says_so() {
    let mut network = network(None, Path::default());
    for (stacks, path_items, stack, sentence) in [
        (true, true, 9, "it reads all"),
        (true, false, 9, "it reads only entries with a queue"),
        (false, false, 1, "it reads none on this path"),
        (true, true, 9, "it reads all again"),
    ] {
        network.sink.stacks = stacks;
        network.sink.path_items = path_items;
        network.sink.digest += 1;
        network.pass(3000);
        assert_eq!(state(&network), LeaseState::Granted, "{sentence}");
        assert_eq!(proof(&network).stack, stack, "{sentence}");
        assert_eq!(proof(&network).reads_items, path_items, "{sentence}");
    }
}

#[test]
fn astray_packets_end_the_lease_at_once() {
    let mut network = network(None, Path::default());
    network.prove(5000).expect("it is proved");
    network.sink.astray = true;
    network.pass(800);
    assert_eq!(state(&network), LeaseState::Astray);
    assert_eq!(network.keeper.lease(&PAIR).unwrap().until_ns, 0);
    network.sink.astray = false;
    network.pass(800);
    assert_eq!(
        state(&network),
        LeaseState::Granted,
        "the way is found again"
    );
    assert!(!proof(&network).ways.is_empty(), "and was proved already");
}

#[test]
fn behind_a_nat_nothing_is_granted() {
    let path = Path {
        nat: true,
        ..Path::default()
    };
    let mut network = network(None, path);
    network.pass(3000);
    assert_eq!(state(&network), LeaseState::Forged);
    assert_eq!(network.probes, 0, "no probe is sent");
}

#[test]
fn renewals_are_short_while_nothing_changes() {
    let mut network = network(None, Path::default());
    network.prove(5000).expect("it is proved");
    network.asked.clear();
    let probes = network.probes;
    network.pass(300_000);
    let full = |network: &Network| network.asked.iter().filter(|(_, len)| *len == 200).count();
    let all = network.asked.len();
    assert!(
        (5..=10).contains(&full(&network)),
        "a full question every half to one minute: {}",
        full(&network)
    );
    assert!((400..=450).contains(&all), "a question every 700 ms: {all}");
    assert_eq!(network.probes, probes, "no probe is sent");
    network.keeper.set_ours(OwnTagging {
        node: NodeId(9),
        ..configured(None)
    });
    network.asked.clear();
    network.pass(1000);
    assert_eq!(
        full(&network),
        1,
        "another node id of this host is told at once"
    );
    network.pass(2000);
    network.sink.digest = 2;
    network.asked.clear();
    network.pass(1000);
    assert!(
        network.asked.iter().any(|(_, len)| *len == 200),
        "what a short answer has no room for changed"
    );
}

/// Packets are tagged at this rate; the sink sees a part of them.
fn carry(network: &mut Network, form: usize, ms: u64, seen: f64, lost: f64) {
    let mut tagged = [0; 3];
    carry_on(network, &mut tagged, form, ms, seen, lost);
}

fn carry_on(
    network: &mut Network,
    tagged: &mut [u64; 3],
    form: usize,
    ms: u64,
    seen: f64,
    lost: f64,
) {
    let (mut stripped, mut gone) = (0.0, 0.0);
    for _ in 0..ms / 100 {
        tagged[form] += 100;
        stripped += 100.0 * seen;
        gone += 100.0 * lost;
        network.sink.stripped[form] += stripped as u32;
        network.sink.lost += gone as u32;
        stripped -= stripped.floor();
        gone -= gone.floor();
        let counts = LeaseCounts {
            tagged: *tagged,
            ..LeaseCounts::default()
        };
        network.note_counts(counts);
        network.pass(100);
    }
}

#[test]
fn a_form_whose_packets_do_not_arrive_is_given_up_within_a_second() {
    let mut network = network(None, Path::default());
    network.prove(5000).expect("it is proved");
    carry(&mut network, 2, 1000, 0.0, 0.0);
    assert!(
        !proof(&network).ways.has(Encapsulation::VxlanGpe),
        "the tunnel is closed"
    );
    assert_eq!(proof(&network).eaten.names(), ["vxlan-gpe"]);
    network.pass(2000);
    let ways = proof(&network).ways;
    assert!(
        ways.has(Encapsulation::ExtensionUdp),
        "the next best is used"
    );
    network.pass(55_000);
    assert!(
        !proof(&network).ways.has(Encapsulation::VxlanGpe),
        "not yet"
    );
    network.pass(5000);
    assert!(
        proof(&network).ways.has(Encapsulation::VxlanGpe),
        "it is probed again a minute after the last proof"
    );
}

#[test]
fn counts_of_the_sink_close_a_form_only_if_packets_are_missing() {
    for (name, seen, lost, closed) in [
        ("all arrive", 1.0, 0.0, false),
        ("5 % are lost", 0.95, 0.05, false),
        ("20 % are lost", 0.8, 0.2, false),
        ("50 % are lost", 0.5, 0.5, false),
        ("4 % are missing", 0.96, 0.0, false),
        ("half are missing", 0.5, 0.0, true),
        ("a fifth is missing", 0.8, 0.0, true),
    ] {
        let mut network = network(None, Path::default());
        network.prove(5000).expect("it is proved");
        carry(&mut network, 2, 15_000, seen, lost);
        let open = proof(&network).ways.has(Encapsulation::VxlanGpe);
        assert_eq!(open, !closed, "{name}");
    }
}

#[test]
fn missing_packets_make_the_path_be_proved_again_if_that_was_a_minute_ago() {
    for (name, eaten, closed_by_proof) in [
        ("probes pass", vec![], false),
        ("probes do not pass", vec![ProbeForm::Gpe], true),
    ] {
        let mut network = network(None, Path::default());
        network.prove(5000).expect("it is proved");
        let mut tagged = [0; 3];
        carry_on(&mut network, &mut tagged, 2, 62_000, 1.0, 0.0);
        let probes = network.probes;
        network.path.eaten = eaten;
        carry_on(&mut network, &mut tagged, 2, 7_000, 0.5, 0.0);
        assert!(network.probes > probes, "{name}: it is proved again");
        let open = proof(&network).ways.has(Encapsulation::VxlanGpe);
        assert_eq!(open, !closed_by_proof, "{name}");
        carry_on(&mut network, &mut tagged, 2, 15_000, 0.5, 0.0);
        let open = proof(&network).ways.has(Encapsulation::VxlanGpe);
        assert!(!open, "{name}: packets are missing all the same");
    }
}

#[test]
fn a_path_is_proved_again_only_for_what_changes_the_results() {
    type Change = fn(&mut Sink);
    let cases: [(&str, Change, bool); 5] = [
        (
            "its clock is steered",
            |sink| sink.clock_steering = ClockSteering::of_ppb(9_000),
            false,
        ),
        (
            "its daemon begins to send strays",
            |sink| sink.daemon = true,
            false,
        ),
        ("it reads stacks", |sink| sink.stacks = true, false),
        (
            "it reads fewer encapsulations",
            |sink| sink.capabilities = tunnels(),
            true,
        ),
        (
            "it expects another port",
            |sink| sink.marks.extension_port += 1,
            true,
        ),
    ];
    for (name, change, again) in cases {
        let sink = Sink {
            daemon: false,
            stacks: false,
            ..Sink::default()
        };
        let mut network = Network::new(configured(GPE), Path::default(), sink, 1);
        network.prove(5000).expect("it is proved");
        change(&mut network.sink);
        network.sink.digest += 1;
        network.pass(3_000);
        let probes = network.probes;
        network.pass(65_000);
        assert_eq!(network.probes > probes, again, "{name}");
    }
}

fn tunnels() -> Encapsulations {
    let both = [Encapsulation::ExtensionUdp, Encapsulation::VxlanGpe];
    both.into_iter()
        .fold(Encapsulations::default(), Encapsulations::with)
}

#[test]
fn a_changed_route_is_proved_again_a_minute_after_the_last_proof() {
    let mut network = network(None, Path::default());
    network.prove(5000).expect("it is proved");
    let first = network.probes;
    let now = network.now;
    network.keeper.doubt_paths(|pair| *pair != PAIR, now);
    network.pass(70_000);
    assert_eq!(network.probes, first, "another pair's route changed");
    network.path.eaten = vec![ProbeForm::Gpe];
    for change in 0..10 {
        let now = network.now;
        network.keeper.doubt_paths(|pair| *pair == PAIR, now);
        network.pass(2_000);
        let eaten = proof(&network).eaten.names();
        assert_eq!(eaten, ["vxlan-gpe"], "after {change} changes");
    }
    let probes = network.probes;
    network.pass(30_000);
    assert_eq!(network.probes, probes, "once a minute at most");
}

#[test]
fn bursts_that_arrive_close_no_form() {
    for seed in 0..60 {
        let mut random = Random::seeded(seed);
        let mut network = network(None, Path::default());
        network.prove(5000).expect("it is proved");
        let mut tagged = [0; 3];
        for _ in 0..600 {
            // A fifth is lost; what else was sent by now was stripped.
            let most = if random.chance(0.05) { 600 } else { 12 };
            let sent = random.u32() % most;
            tagged[2] += u64::from(sent);
            network.sink.stripped[2] += sent - sent / 5;
            network.sink.lost += sent / 5;
            let counts = LeaseCounts {
                tagged,
                ..LeaseCounts::default()
            };
            network.note_counts(counts);
            network.pass(100);
            let open = proof(&network).ways.has(Encapsulation::VxlanGpe);
            assert!(open, "with seed {seed}");
        }
    }
}

#[test]
fn packets_that_arrive_vouch_for_the_lease() {
    let mut network = network(None, Path::default());
    network.prove(5000).expect("it is proved");
    assert_eq!(proof(&network).vouched_ns, 0, "nothing was tagged yet");
    carry(&mut network, 2, 2000, 1.0, 0.0);
    assert!(proof(&network).vouched_ns > network.now, "for a second");
}

#[test]
fn a_host_keeps_its_node_id_while_its_lease_is_renewed() {
    let mut network = network(None, Path::default());
    network.prove(5000).expect("it is proved");
    network.pass(20_000);
    let other = AddressPair {
        dest: OTHER_HOST,
        ..PAIR
    };
    network.keeper.want(other, true, network.now);
    network.pass(5000);
    let found = network.keeper.lease(&other).map(|lease| lease.state);
    let duplicate = LeaseState::Duplicate { addr: PAIR.dest };
    assert_eq!(found, Some(duplicate), "another host with its node id");
    assert_eq!(state(&network), LeaseState::Granted);
}

fn fell(flows: u64) -> LeaseCounts {
    LeaseCounts {
        fallen: flows,
        ..LeaseCounts::default()
    }
}

#[test]
fn several_flows_that_come_to_nothing_close_their_form_for_a_minute() {
    let mut network = network(None, Path::default());
    network.prove(5000).expect("it is proved");
    for fallen in [0, 1, 2] {
        network.note_counts(fell(fallen));
        network.pass(100);
    }
    assert!(!proof(&network).distrusted, "two may be chance");
    let update = network.note_counts(fell(3));
    assert!(update.is_some_and(|one| one.changed), "the kernel is told");
    assert!(proof(&network).distrusted, "three are not");
    assert!(!proof(&network).ways.has(Encapsulation::VxlanGpe));
    network.pass(59_000);
    assert!(
        !proof(&network).ways.has(Encapsulation::VxlanGpe),
        "not yet"
    );
    network.pass(3000);
    assert!(proof(&network).ways.has(Encapsulation::VxlanGpe), "again");
    assert!(!proof(&network).distrusted);
}

#[test]
fn a_path_that_a_form_does_not_pass_is_probed_ever_less_often() {
    let path = Path {
        eaten: vec![ProbeForm::Gpe, ProbeForm::Extension],
        ..Path::default()
    };
    let mut network = network(None, path);
    network.pass(2000);
    let first = network.probes;
    network.pass(56_000);
    assert_eq!(network.probes, first, "not within a minute");
    network.pass(600_000);
    let rounds = (network.probes - first) / first;
    assert!((2..=6).contains(&rounds), "{rounds} rounds in ten minutes");
}

#[test]
fn a_daemon_goes_on_with_what_an_earlier_one_proved() {
    let mut network = network(None, Path::default());
    network.prove(5000).expect("it is proved");
    let known = proof(&network);
    let mut next = self::network(None, Path::default());
    next.now = network.now;
    next.keeper.adopt(&PAIR, &known);
    next.pass(500);
    assert_eq!(next.probes, 0, "no probe is sent");
    assert_eq!(proof(&next).ways, known.ways);
    assert!(
        next.updates.iter().all(|one| one.lease.proof.stack == 9),
        "the sink reads stacks all the time"
    );
    assert!(
        next.updates
            .iter()
            .all(|one| one.lease.proof.ways == known.ways),
        "no form is closed meanwhile"
    );
}

#[test]
fn a_sink_in_front_of_many_destinations_is_proved_for_one_after_the_other() {
    let mut network = network(None, Path::default());
    let pairs: Vec<_> = (3..40)
        .map(|n| AddressPair {
            dest: [198, 51, 100, n].into(),
            ..PAIR
        })
        .collect();
    for pair in &pairs {
        network.keeper.want(*pair, true, network.now);
    }
    network.pass(10_000);
    for pair in &pairs {
        let proof = network.keeper.lease(pair).expect("it is kept").proof;
        assert_eq!(
            proof.ways.names(),
            ["tcp vxlan-gpe", "udp vxlan-gpe"],
            "{pair:?}"
        );
    }
}

#[test]
fn nothing_is_probed_for_another_host_while_the_sink_tells_nothing_about_it() {
    let mut network = network(None, Path::default());
    network.sink.untold = true;
    // The packets' own address is not this host's.
    network.asks_from = [192, 0, 2, 77].into();
    network.keeper.set_origin(&PAIR, network.asks_from);
    network.pass(3_000);
    assert_eq!(state(&network), LeaseState::Granted);
    let known = proof(&network);
    assert!(known.untold && known.ways.is_empty(), "{known:?}");
    assert!(known.eaten.is_empty(), "no form is told to be eaten");
    assert_eq!(network.probes, 0, "no probe is sent");
    let lease = network.keeper.lease(&PAIR).expect("it is kept");
    let sentence = sentence(lease);
    assert!(
        sentence.contains("packets stay untagged (give both sides the same --lease-key)"),
        "{sentence}"
    );
    network.sink.untold = false;
    network
        .prove(3_000)
        .expect("it is proved once the sink tells");
    assert!(!proof(&network).untold);
}

#[test]
fn packets_are_no_longer_than_the_probes_that_passed() {
    for (sentence, route_mtu, mtu, longest, ways) in [
        (
            "the route knows that the path is narrow",
            1400,
            1400,
            1400,
            &["tcp vxlan-gpe", "udp vxlan-gpe"][..],
        ),
        (
            "the route does not know of a tunnel of 1400",
            1500,
            1400,
            1400,
            &["udp vxlan-gpe"],
        ),
        (
            "nor of a modem of 1492",
            1500,
            1492,
            1492,
            &["udp vxlan-gpe"],
        ),
        (
            "jumbo frames end at a router",
            9000,
            1500,
            1500,
            &["udp vxlan-gpe"],
        ),
        (
            "a link of no common length",
            1500,
            1300,
            1280,
            &["udp vxlan-gpe"],
        ),
        ("a path narrower than IPv6 allows", 1500, 1200, 0, &[]),
        (
            "a wide path",
            9000,
            9000,
            9000,
            &["tcp vxlan-gpe", "udp vxlan-gpe"],
        ),
    ] {
        let path = Path {
            route_mtu,
            mtu,
            ..Path::default()
        };
        let mut network = network(None, path);
        network.prove(10_000).expect(sentence);
        let known = proof(&network);
        assert_eq!(
            (known.longest, &*known.ways.names()),
            (longest, ways),
            "{sentence}"
        );
        if known.ways.is_empty() {
            continue;
        }
        let mut next = self::network(None, Path::default());
        next.now = network.now;
        next.keeper.adopt(&PAIR, &known);
        next.pass(500);
        let adopted = proof(&next);
        assert_eq!(
            (adopted.longest, &*adopted.ways.names()),
            (longest, ways),
            "{sentence}: the next daemon"
        );
    }
}

#[test]
fn while_1000_idle_peers_are_proved_all_messages_take_at_most_1_mbit_a_second() {
    const SECONDS: u64 = 10;
    for v6 in [false, true] {
        let mut network = network(None, Path::default());
        for n in 0..1000_u16 {
            let [high, low] = n.to_be_bytes();
            let pair = match v6 {
                false => AddressPair {
                    dest: [198, 51, 101 + high, low].into(),
                    ..PAIR
                },
                true => AddressPair {
                    source: [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1].into(),
                    dest: [0x2001, 0xdb8, 0, 0, 0, 0, 1, n].into(),
                },
            };
            network.asks_from = pair.source;
            let (place, _) = network.keeper.want(pair, true, network.now);
            network.keeper.set_idle(place, true, network.now);
        }
        network.pass(2_000);
        let before = network.sent_bytes;
        network.pass(SECONDS * 1000);
        let bytes = network.sent_bytes - before;
        let mbit = bytes as f64 * 8.0 / SECONDS as f64 / 1e6;
        assert!((0.4..=1.0).contains(&mbit), "IPv6 {v6}: {mbit} Mbit/s");
    }
}

/// The headers of IP and ICMP count.
#[test]
fn leases_of_1000_peers_with_packets_take_at_most_1_mbit_a_second() {
    const SECONDS: u64 = 100;
    let mut network = network(None, Path::default());
    network.prove(5000).expect("it is proved");
    let known = proof(&network);
    network.keeper.forget(&PAIR);
    for n in 0..1000_u16 {
        let [high, low] = n.to_be_bytes();
        let pair = AddressPair {
            dest: [198, 51, 101 + high, low].into(),
            ..PAIR
        };
        network.keeper.want(pair, true, network.now);
        network.keeper.adopt(&pair, &known);
    }
    network.pass(5_000);
    network.asked.clear();
    network.pass(SECONDS * 1000);
    let begun = network.asked[0].0;
    let mut bytes = vec![0; SECONDS as usize + 1];
    for (at, len) in &network.asked {
        bytes[((at - begun) / (1000 * MS)) as usize] += len + 28;
    }
    let asked = network.asked.len() as u64 / SECONDS;
    // In the first minute all peers' full questions are due.
    let mbit =
        |bytes: &[usize]| bytes.iter().sum::<usize>() as f64 * 8.0 / bytes.len() as f64 / 1e6;
    let last = &bytes[60..SECONDS as usize];
    assert!(mbit(last) <= 1.0, "{} Mbit/s, {asked} a second", mbit(last));
    for second in last.chunks(1) {
        assert!(mbit(second) <= 1.1, "{} Mbit/s in a second", mbit(second));
    }
    assert!(
        (1_200..=1_300).contains(&asked),
        "{asked} questions a second"
    );
}

#[test]
fn datagrams_in_options_that_do_not_arrive_are_seen_beside_many_segments_that_do() {
    let udp = Ways::of(Transport::Udp, Encapsulation::Options);
    let tcp = Ways::of(Transport::Tcp, Encapsulation::Options);
    // Segments are counted in the first place, datagrams in the second.
    for (name, arrives, left) in [
        ("both arrive", [true, true], udp.with(tcp)),
        ("datagrams do not", [true, false], tcp),
        ("segments do not", [false, true], udp),
        ("neither arrives", [false, false], Ways::NONE),
    ] {
        let mut network = network(Some(Encapsulation::Options), Path::default());
        network.prove(5000).expect("it is proved");
        assert_eq!(proof(&network).ways, udp.with(tcp), "{name}: at first");
        let mut tagged = [0; 3];
        // Five questions a second that get no answer, beside a stream: two seconds of them are the most.
        for turn in 0..24 {
            let sent = [50, u64::from(turn % 2 == 0), 0];
            for (place, packets) in sent.into_iter().enumerate() {
                tagged[place] += packets;
                if *arrives.get(place).unwrap_or(&true) {
                    network.sink.stripped[place] += packets as u32;
                }
            }
            let counts = LeaseCounts {
                tagged,
                ..LeaseCounts::default()
            };
            network.note_counts(counts);
            network.pass(100);
        }
        assert_eq!(proof(&network).ways, left, "{name}: after 2.4 s");
    }
}

/// Milliseconds from the time when a device begins to drop datagrams with options to the end of their tagging, if this many
/// questions are asked at a time, and each waits a second for its answer. The device may let probes pass.
fn dropped_for_ms(network: &mut Network, at_once: u64, probes_pass: bool) -> Option<u64> {
    let udp = Ways::of(Transport::Udp, Encapsulation::Options);
    let mut tagged = 0;
    let mut counted = |network: &mut Network, more: u64, arrive: bool| {
        tagged += more;
        if arrive {
            network.sink.stripped[1] += more as u32;
        }
        let counts = LeaseCounts {
            tagged: [0, tagged, 0],
            ..LeaseCounts::default()
        };
        network.note_counts(counts);
        network.pass(100);
    };
    for _ in 0..20 {
        counted(network, at_once, true);
    }
    if !probes_pass {
        network.path.eaten = vec![ProbeForm::Options];
    }
    network.updates.clear();
    for turn in 0..50 {
        // Probes that pass open it again within some ms.
        let closes = |one: &LeaseUpdate| !one.lease.proof.ways.contains(udp);
        if network.updates.iter().any(closes) {
            return Some(turn * 100);
        }
        let asks = if turn % 10 == 0 { at_once } else { 0 };
        counted(network, asks, false);
    }
    None
}

#[test]
fn questions_that_are_rarely_asked_lose_two_answers_at_most_to_a_device_that_drops_options() {
    for (name, at_once, probes_pass, most_ms) in [
        ("three clients", 3, false, 1_500),
        ("one client", 1, false, 2_500),
        ("one client, probes pass", 1, true, 2_500),
    ] {
        let mut network = network(Some(Encapsulation::Options), Path::default());
        network.prove(5000).expect("it is proved");
        let took = dropped_for_ms(&mut network, at_once, probes_pass);
        let took = took.unwrap_or_else(|| panic!("{name}: they go on"));
        assert!(took <= most_ms, "{name}: {took} ms");
        let udp = Ways::of(Transport::Udp, Encapsulation::Options);
        network.pass(5_000);
        let again = proof(&network).ways.contains(udp);
        assert_eq!(again, probes_pass, "{name}: what probes tell opens it");
        if probes_pass {
            dropped_for_ms(&mut network, at_once, true).expect("it is closed again");
            network.pass(5_000);
            let again = proof(&network).ways.contains(udp);
            assert!(!again, "{name}: the second time it waits for longer");
        }
    }
}
