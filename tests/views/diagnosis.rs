//! Each counter has its words for why packets are not tagged, stripped or measured, and the important reasons come
//! first.

use std::collections::BTreeSet;

use clap::CommandFactory;
use hostint::cli::Cli;
use hostint::datapath::abi::{
    daemon_counter, peer_counter, sink_counter, source_counter, transit_counter,
};
use hostint::datapath::host::counters;
use hostint::model::*;
use hostint::views::diagnosis::counters::{CounterReason, DAEMON, SINK, SOURCE, TRANSIT};
use hostint::views::diagnosis::diagnose;
use hostint::views::status::StatusText;
use hostint_testing::status_samples;

fn rows() -> impl Iterator<Item = &'static CounterReason> {
    SOURCE.iter().chain(TRANSIT).chain(SINK).chain(DAEMON)
}

/// Counters that are no reason for anything: they count completed work, and packets that are none of hostint's
/// business.
const NO_REASON: &[&str] = &[
    "mx_passed",
    "postcard_sent",
    "received",
    "host_int",
    "lost",
    "recovered",
    "reordered",
    "duplicate",
    "flow_new",
    "flow_began_before_lease",
    "flow_restarted",
    "flow_late",
    "event_sent",
    "lease_granted",
    "lease_closing",
    "nic_stamped",
    "probe",
    "tagged",
    "arrived",
    "pushed",
    "option_filled",
    "unwatched",
    "excluded",
    "not_sampled",
    "budget",
    "merged",
    "other_protocol",
    "encapsulated",
    "staged",
    "report",
    "seen",
    "mss_clamped",
    "mss_signed",
    "icmp_translated",
    "events_read",
    "reports_sent",
    "report_datagrams_sent",
    "report_datagrams_lost",
    "summaries_sent",
    "summaries_left_out",
    "log_written",
    "flows_expired",
    "source_flows_expired",
    "sweeps",
    "sweep_cpu_ns",
    "pid",
    "started_ns",
    "alive_ns",
    "leases_asked",
    "leases_answered",
    "lease_cpu_ns",
    "control_answered",
    "control_refused",
];

#[test]
fn every_counter_has_words_or_needs_none() {
    for (role, meanings, count, rows) in [
        (
            "source",
            counters::SOURCE,
            source_counter::COUNT_SOURCE_MAX.0,
            SOURCE,
        ),
        (
            "peer",
            counters::PEER,
            peer_counter::COUNT_PEER_MAX.0,
            SOURCE,
        ),
        (
            "transit",
            counters::TRANSIT,
            transit_counter::COUNT_TRANSIT_MAX.0,
            TRANSIT,
        ),
        ("sink", counters::SINK, sink_counter::COUNT_SINK_MAX.0, SINK),
        (
            "daemon",
            counters::DAEMON,
            daemon_counter::DAEMON_MAX.0,
            DAEMON,
        ),
    ] {
        assert_eq!(
            meanings.len(),
            count as usize,
            "{role}: each counter has a name"
        );
        for meaning in meanings {
            let reasons = rows.iter().filter(|row| row.counter == meaning.name);
            let plain = NO_REASON.contains(&meaning.name);
            assert_eq!(
                reasons.count() + usize::from(plain),
                1,
                "{role} {}: a reason, or none",
                meaning.name
            );
        }
    }
}

#[test]
fn every_reason_has_its_counter() {
    let known: BTreeSet<&str> = [
        counters::SOURCE,
        counters::PEER,
        counters::TRANSIT,
        counters::SINK,
        counters::DAEMON,
    ]
    .into_iter()
    .flatten()
    .map(|meaning| meaning.name)
    .collect();
    for name in rows()
        .map(|row| row.counter)
        .chain(NO_REASON.iter().copied())
    {
        assert!(known.contains(name), "{name}");
    }
}

/// Long flags of all commands.
fn flags_of(command: &clap::Command, found: &mut BTreeSet<String>) {
    found.extend(
        command
            .get_arguments()
            .filter_map(|arg| Some(format!("--{}", arg.get_long()?))),
    );
    for below in command.get_subcommands() {
        flags_of(below, found);
    }
}

#[test]
fn advice_names_flags_that_exist() {
    let mut flags = BTreeSet::new();
    flags_of(&Cli::command(), &mut flags);
    let mut named = 0;
    for row in rows() {
        for word in row.advice.split([' ', ',', ';', '(', ')']) {
            if word.starts_with("--") {
                named += 1;
                assert!(flags.contains(word), "{}: {word}", row.counter);
            }
        }
    }
    assert!(named > 10, "{named}");
}

fn counter(name: &'static str, packets: u64) -> CounterStatus {
    CounterStatus {
        name,
        text: "",
        packets,
        bytes: 0,
    }
}

fn attachment() -> Attachment {
    Attachment {
        dev: "eth1".to_owned(),
        hook: "tc",
        mode: "tcx",
        ..status_samples::attachment()
    }
}

fn peer(state: LeaseState) -> PeerStatus {
    PeerStatus {
        state: state.name(),
        lease: Lease {
            state,
            ..Lease::default()
        },
        ..status_samples::silent_peer()
    }
}

fn source() -> SourceStatus {
    SourceStatus {
        attachments: vec![attachment()],
        rules_total: 1,
        dests: vec![DestStatus {
            prefix: "192.0.2.2/32".to_owned(),
            name: "192.0.2.2".to_owned(),
            fixed: false,
        }],
        counters: vec![counter("tagged", 10)],
        flows_total: 1,
        flows_max: 10,
        peers_total: 1,
        peers: vec![peer(LeaseState::Granted)],
    }
}

fn sink() -> SinkStatus {
    SinkStatus {
        attachments: vec![attachment()],
        counters: vec![counter("received", 10)],
        flows_max: 10,
        leases_granted: 1,
        astray: Vec::new(),
        ..status_samples::idle_sink()
    }
}

fn host(source: Option<SourceStatus>, sink: Option<SinkStatus>) -> HostStatus {
    HostStatus {
        sink,
        source,
        transit: None,
        ..status_samples::nothing()
    }
}

/// What `hostint status` says below "why".
fn why(mut status: HostStatus) -> Vec<String> {
    status.why = diagnose(&status, None);
    let text = StatusText {
        status: &status,
        all: false,
    };
    let lines: Vec<String> = text.to_string().lines().map(str::to_owned).collect();
    let begin = lines.iter().position(|line| line.starts_with("why "));
    begin.map_or(Vec::new(), |begin| lines[begin..].to_vec())
}

type Change<T> = fn(&mut T);

#[test]
fn a_source_that_tags_needs_no_words_and_others_get_them() {
    let cases: [(&str, Change<SourceStatus>, &[&str]); 11] = [
        ("all is well", |_| {}, &[]),
        (
            "the issue's own example",
            |it| it.counters.push(counter("too_long", 1_204)),
            &["1,204 packets too long: "],
        ),
        (
            "one of many is singular",
            |it| it.counters.push(counter("too_long", 1)),
            &["1 packet too long: "],
        ),
        (
            "dropped packets weigh more than many untagged ones, these more than what is by design",
            |it| {
                it.counters.extend([
                    counter("may_fragment", 1_000_000),
                    counter("too_long", 2),
                    counter("superpacket", 3_000),
                    counter("dropped", 1),
                ]);
            },
            &[
                "1 packet dropped",
                "3,000 segments in superpackets",
                "2 packets too long",
                "1,000,000 packets that a router might fragment",
            ],
        ),
        (
            "no interface",
            |it| it.attachments.clear(),
            &["the source is not attached to any interface: hostint source attach"],
        ),
        (
            "no destination",
            |it| {
                it.dests.clear();
                it.rules_total = 0;
            },
            &["no destination is watched: hostint source add-dest"],
        ),
        (
            "no packet",
            |it| it.counters.clear(),
            &["attached to eth1, but has seen no packet: "],
        ),
        (
            "only other destinations",
            |it| it.counters = vec![counter("tagged", 0), counter("unwatched", 5)],
            &["no packet that left by eth1 matched the watchlist: "],
        ),
        (
            "some peers have no sink",
            |it| {
                it.peers.extend([
                    peer(LeaseState::NoSink),
                    peer(LeaseState::NoSink),
                    peer(LeaseState::Forged),
                ]);
            },
            &[
                "2 peers without a sink: start hostint sink there",
                "1 peer whose answers carry a wrong authentication tag: give both sides",
            ],
        ),
        (
            "no peer yet",
            |it| it.peers.clear(),
            &["no lease has been asked for yet: "],
        ),
        (
            "no peer is needed for static destinations",
            |it| {
                it.peers.clear();
                it.dests[0].fixed = true;
            },
            &[],
        ),
    ];
    for (sentence, change, expected) in cases {
        let mut source = source();
        change(&mut source);
        let lines = why(host(Some(source), None));
        check(sentence, "why packets are not tagged:", &lines, expected);
    }
}

fn check(sentence: &str, head: &str, lines: &[String], expected: &[&str]) {
    if expected.is_empty() {
        assert!(lines.is_empty(), "{sentence}: {lines:#?}");
        return;
    }
    assert_eq!(lines[0], head, "{sentence}");
    assert_eq!(lines.len(), 1 + expected.len(), "{sentence}: {lines:#?}");
    for (line, begin) in lines[1..].iter().zip(expected) {
        assert!(line.trim_start().starts_with(begin), "{sentence}: {line}");
        assert!(line.contains(": "), "{sentence}: advice: {line}");
    }
}

#[test]
fn a_sink_that_strips_needs_no_words_and_others_get_them() {
    const STRIPPED: &str = "why packets are not stripped:";
    const MEASURED: &str = "why packets are not measured or reported:";
    let cases: [(&str, &str, Change<SinkStatus>, &[&str]); 8] = [
        ("all is well", STRIPPED, |_| {}, &[]),
        (
            "hosts without leases",
            STRIPPED,
            |it| it.counters.push(counter("not_allowed", 4_321)),
            &["4,321 packets tagged by a host without a lease, passed on with INT: "],
        ),
        (
            "hosts without leases before a strict sink",
            STRIPPED,
            |it| {
                it.settings.strict = true;
                it.counters
                    .extend([counter("not_allowed", 1), counter("bad_shim", 9)]);
            },
            &[
                "1 packet tagged by a host without a lease, dropped (--strict): ",
                "9 packets with INT of another kind",
            ],
        ),
        (
            "no interface",
            STRIPPED,
            |it| it.attachments.clear(),
            &["the sink is not attached to any interface: "],
        ),
        (
            "nothing came",
            STRIPPED,
            |it| it.counters.clear(),
            &["attached to eth1, where neither INT nor"],
        ),
        (
            "about to be detached",
            STRIPPED,
            |it| it.settings.closing = true,
            &["the sink is about to be detached"],
        ),
        (
            "no daemon",
            MEASURED,
            |it| it.daemon_pid = None,
            &["no daemon runs: nothing is reported"],
        ),
        (
            "own data lost",
            MEASURED,
            |it| {
                it.counters.push(counter("event_lost", 7));
                it.daemon.push(DaemonCounter {
                    name: "reports_lost",
                    text: "",
                    value: 70,
                });
            },
            &["70 reports not sent: ", "7 events lost because "],
        ),
    ];
    for (sentence, head, change, expected) in cases {
        let mut sink = sink();
        change(&mut sink);
        check(sentence, head, &why(host(None, Some(sink))), expected);
    }
}

#[test]
fn programs_get_the_same_reasons() {
    let mut sink = sink();
    sink.counters.push(counter("untracked", 12));
    let reasons = diagnose(&host(None, Some(sink)), None);
    let json = serde_json::to_value(&reasons).unwrap();
    assert_eq!(json[0]["topic"], "measuring");
    assert_eq!(json[0]["severity"], "missed");
    assert_eq!(json[0]["counter"], "untracked");
    assert_eq!(json[0]["count"], 12);
    assert!(json[0]["text"].as_str().unwrap().starts_with("packets "));
    assert!(json[0]["advice"].as_str().unwrap().contains("--max-flows"));
}

#[test]
fn a_trouble_is_told_by_what_it_did_lately_and_is_over_when_that_is_nothing() {
    struct Case {
        name: &'static str,
        /// The growth of the source's counter, if a daemon tells.
        recent: Option<u64>,
        says: &'static str,
        is_over: bool,
    }
    let cases = [
        Case {
            name: "no daemon tells",
            recent: None,
            says: "3,649 packets too long: ",
            is_over: false,
        },
        Case {
            name: "it goes on",
            recent: Some(12),
            says: "12 packets too long in the last 60 s: ",
            is_over: false,
        },
        Case {
            name: "one packet",
            recent: Some(1),
            says: "1 packet too long in the last 60 s: ",
            is_over: false,
        },
        Case {
            name: "it is over",
            recent: Some(0),
            says: "3,649 packets too long, none in the last 60 s: ",
            is_over: true,
        },
    ];
    for case in cases {
        let mut source = source();
        source.counters.push(counter("too_long", 3_649));
        let mut status = host(Some(source), None);
        let recent = case.recent.map(|packets| RecentCounts {
            seconds: 60,
            // The sink's counter of the same name is another one.
            sink: [("too_long".to_owned(), 77)].into(),
            source: (packets > 0)
                .then(|| ("too_long".to_owned(), packets))
                .into_iter()
                .collect(),
            ..RecentCounts::default()
        });
        status.why = diagnose(&status, recent.as_ref());
        let says = |all| {
            let text = StatusText {
                status: &status,
                all,
            };
            text.to_string().contains(case.says)
        };
        assert!(says(true), "{}: {:?}", case.name, status.why);
        assert_eq!(says(false), !case.is_over, "{}", case.name);
        let of_counter = |one: &&Reason| one.counter == Some("too_long");
        let reason = status.why.iter().find(of_counter).unwrap();
        assert_eq!(reason.is_over(), case.is_over, "{}", case.name);
        assert_eq!(reason.count, Some(3_649), "{}", case.name);
    }
}
