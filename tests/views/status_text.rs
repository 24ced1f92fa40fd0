//! `hostint status` as text: the table of flows, the clock, the collectors.

use std::num::NonZeroU32;

use hostint::datapath::abi::{address_key, sink_grant};
use hostint::datapath::lease::grant_status::grant_status;
use hostint::model::*;
use hostint::views::status::StatusText;
use hostint_testing::status_samples;

fn flow(src: &str, dst: &str, vlans: Vlans) -> FlowStatus {
    let sample = status_samples::flow(vlans);
    FlowStatus {
        flow: FlowKey {
            src: src.parse().unwrap(),
            dst: dst.parse().unwrap(),
            ..sample.flow
        },
        packets: 1000,
        bytes: 64_000,
        lost: 3,
        latency_min_ns: 1_000,
        latency_mean_ns: 2_000,
        latency_max_ns: 3_000,
        latency_last_ns: 2_000,
        histogram: Vec::new(),
        ..sample
    }
}

fn status(flows: Vec<FlowStatus>) -> HostStatus {
    HostStatus {
        node_id: Some(NodeId(3)),
        sink: Some(SinkStatus {
            attachments: Vec::new(),
            flows_total: flows.len(),
            flows,
            ..status_samples::idle_sink()
        }),
        ..status_samples::nothing()
    }
}

/// The head of the table of flows and what follows, to the end.
fn table(flows: Vec<FlowStatus>) -> Vec<String> {
    let status = status(flows);
    let text = StatusText {
        status: &status,
        all: false,
    }
    .to_string();
    let lines = text.lines().skip_while(|line| !line.starts_with("  flow "));
    let lines = lines.take_while(|line| line.starts_with("  "));
    lines.map(str::to_owned).collect()
}

#[test]
fn flows_of_any_length_stand_in_columns() {
    let four = || flow("192.0.2.1", "198.51.100.2", Vlans::NONE);
    let six = || {
        let vlans = Vlans {
            outer: 100,
            inner: 4095,
        };
        flow("2001:db8:1:2:3:4:5:6", "2001:db8:6:5:4:3:2:1", vlans)
    };
    for (sentence, flows, rows) in [
        ("IPv4", vec![four()], 1),
        ("IPv6 in two VLANs", vec![six()], 1),
        ("both", vec![four(), six()], 2),
    ] {
        let table = table(flows);
        assert_eq!(table.len(), 1 + rows, "{sentence}");
        for line in &table {
            assert_eq!(line.len(), table[0].len(), "{sentence}: {table:#?}");
        }
    }
    let head = &table(vec![four()])[0];
    assert_eq!(
        head.find("node"),
        Some(2 + 46 + 1 + 2),
        "narrow if it can be"
    );
}

#[test]
fn the_clock_is_told_and_what_it_is_worth() {
    for (synchronised, stated_ns, words) in [
        (true, 0, "clock: tai, offset -37000000000 ns, synchronised"),
        (
            true,
            2_000,
            "synchronised; off by 2.0 us at most, as its operator or time daemon states",
        ),
        (false, 2_000, "NOT synchronised"),
    ] {
        let mut status = status(Vec::new());
        status.clock = Some(ClockStatus {
            source: "tai",
            offset_ns: -37_000_000_000,
            synchronised,
            stated_error_ns: NonZeroU32::new(stated_ns),
        });
        let text = StatusText {
            status: &status,
            all: false,
        }
        .to_string();
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn each_host_with_a_lease_is_told_with_what_arrived_of_it() {
    let probes = |form, arrived, tos_changed| ArrivedProbes {
        form,
        arrived,
        all: 72,
        tos_changed,
    };
    let plain = || GrantStatus {
        proved: Vec::new(),
        probes: Vec::new(),
        stripped: Vec::new(),
        ..status_samples::grant()
    };
    let cases = [
        (
            "a proved tunnel",
            status_samples::grant(),
            "ready (vxlan-gpe)",
        ),
        (
            "one of several paths eats a form",
            GrantStatus {
                probes: vec![probes("vxlan-gpe", 63, 0)],
                ..plain()
            },
            "no form of tagging is known to arrive; 63 of 72 probes of vxlan-gpe arrived",
        ),
        (
            "a router rewrites the mark",
            GrantStatus {
                probes: vec![probes("over-tcp-udp", 72, 4)],
                proved: vec!["over-tcp-udp"],
                lost: 1200,
                ..plain()
            },
            "ready (over-tcp-udp); the path changes bits 0x04 of the ToS byte of over-tcp-udp; 1,200 lost",
        ),
    ];
    // Of the kernel's record: its probes of a form have all come with another mark.
    let record = sink_grant {
        until_ns: 1,
        source_node: 2,
        tos_changed: [4, 0, 0, 0],
        ..sink_grant::default()
    };
    let addr = address_key {
        addr: [0, 0, 0xffff_u32.to_be(), u32::from_ne_bytes([192, 0, 2, 1])],
    };
    let rewritten = [(
        "a router rewrites the mark of each probe",
        grant_status(addr, &record, 0),
        "no form of tagging is known to arrive; 0 of 72 probes of over-tcp-udp arrived unchanged; the path changes bits 0x04 of the \
         ToS byte of over-tcp-udp",
    )];
    for (sentence, grant, expected) in cases.into_iter().chain(rewritten) {
        let mut status = status(Vec::new());
        let sink = status.sink.as_mut().unwrap();
        (sink.leases_granted, sink.grants) = (3, vec![grant]);
        let all = false;
        let text = StatusText {
            status: &status,
            all,
        }
        .to_string();
        let line = format!("    {:<39} node {:<10} {expected}\n", "192.0.2.1", "2");
        assert!(text.contains(&line), "{sentence}: {text}");
        assert!(text.contains("    and 2 more\n"), "{sentence}: {text}");
    }
}

#[test]
fn a_peers_clock_is_told_with_what_is_known_of_it() {
    let cases = [
        (
            "ahead",
            Some((12_300, 2_500)),
            Some(true),
            "  clock +12 us ± 3 by lease answers\n",
        ),
        (
            "behind",
            Some((-12_300, 2_500)),
            Some(true),
            "  clock -12 us ± 3 by lease answers\n",
        ),
        (
            "neither",
            Some((100, 90_000)),
            Some(true),
            "  clock 0 us ± 100 by lease answers\n",
        ),
        ("unknown", None, Some(true), "  clock unknown\n"),
        (
            "not synchronised",
            Some((1_230_000_000, 150_000)),
            Some(false),
            "  clock +1.23000 s ± 0.00015 by lease answers, not synchronised\n",
        ),
    ];
    for (name, clock, synchronised, expected) in cases {
        let text = with_peer(|peer| {
            peer.clock_offset_ns = clock.map(|(offset, _)| offset);
            peer.clock_error_ns = clock.map(|(_, error)| error);
            peer.clock_synchronised = synchronised;
            peer.clock_from = clock.map(|_| "lease answers");
        });
        assert!(text.contains(expected), "{name}: {text}");
    }
}

#[test]
fn a_source_says_what_hops_tell_and_which_sinks_do_not_read_that() {
    let peer = "its sink reads no entries without a queue";
    assert!(!with_peer(|_| {}).contains(peer));
    let text = with_peer(|peer| peer.items_unread = true);
    assert!(text.contains("no transit hop may push: its sink reads no entries without a queue (update hostint there"), "{text}");

    let mut status = status(Vec::new());
    let mut source = status_samples::source();
    source.attachments[1].path_items = vec!["latency"];
    status.source = Some(source);
    let text = StatusText {
        status: &status,
        all: false,
    }
    .to_string();
    assert!(
        text.contains(", transit hops 4 (entries without queue)\n"),
        "{text}"
    );
}

/// A peer that grants a lease.
fn granted_peer() -> PeerStatus {
    let answer = LeaseAnswer {
        instance: 1,
        node: NodeId(2),
        encapsulations: Encapsulations::default(),
        marks: Marks {
            tos_value: 0,
            tos_mask: 0,
            extension_port: 0,
        },
        clock: ClockState::default(),
        mtu: 1500,
        tai_offset_s: 0,
        software: (0, 2),
        answered_ns: 0,
    };
    let mut peer = status_samples::silent_peer();
    peer.lease.state = LeaseState::Granted;
    peer.lease.answer = Some(answer);
    peer
}

/// The status of a host with one peer, which grants a lease.
fn with_peer(change: impl FnOnce(&mut PeerStatus)) -> String {
    let mut peer = granted_peer();
    change(&mut peer);
    let mut status = status(Vec::new());
    status.source = Some(SourceStatus {
        peers: vec![peer],
        peers_total: 1,
        ..status_samples::source()
    });
    StatusText {
        status: &status,
        all: false,
    }
    .to_string()
}

#[test]
fn the_budget_of_the_host_is_told_whatever_its_role() {
    let told = |allowed_ppm, spent_ppm, one_flow_in, asks_one_flow_in| BudgetStatus {
        allowed_ppm,
        spent_ppm,
        one_flow_in,
        asks_one_flow_in,
        step_ns: 100,
    };
    for (name, budget, expected) in [
        ("no daemon told it", None, None),
        ("there is none", Some(told(0, 30_000, 1, 1)), None),
        (
            "all is within",
            Some(told(20_000, 1_234, 1, 1)),
            Some("budget: 0.12% of the CPUs' time is spent, of 2%; all flows are measured"),
        ),
        (
            "a share is within",
            Some(told(5_000, 4_000, 8, 1)),
            Some("budget: 0.40% of the CPUs' time is spent, of 0.5%; one flow in 8 is measured"),
        ),
        (
            "others are asked, and it is too much",
            Some(told(20_000, 25_000, 2, 4)),
            Some(
                "budget: 2.50% of the CPUs' time is spent, of 2%; one flow in 2 is measured; others are asked to measure \
                 one flow in 4 to here; that is still too much (try a larger --budget)",
            ),
        ),
    ] {
        let mut status = status(Vec::new());
        status.budget = budget;
        let text = StatusText {
            status: &status,
            all: false,
        }
        .to_string();
        let line = text.lines().find(|line| line.starts_with("budget: "));
        assert_eq!(line, expected, "{name}");
    }
}

#[test]
fn collectors_are_told_with_their_states_and_shares() {
    let collector = |address: &str, state: CollectorState, sent, doubtful| CollectorStatus {
        address: address.parse().unwrap(),
        state: state.name(),
        since_ns: 1_700_000_000_000_000_000,
        sent,
        lost: doubtful / 10,
        doubtful,
        queue_percent: (state == CollectorState::Answers).then_some(3),
    };
    struct Case {
        name: &'static str,
        spread: bool,
        collectors: Vec<CollectorStatus>,
        lines: &'static [&'static str],
    }
    let cases = [
        Case {
            name: "nobody",
            spread: false,
            collectors: Vec::new(),
            lines: &[],
        },
        Case {
            name: "copies",
            spread: false,
            collectors: vec![collector("192.0.2.9:32766", CollectorState::Unprobed, 5, 0)],
            lines: &[
                "  collectors: 1, each report to all of them",
                "    192.0.2.9:32766  5 reports",
            ],
        },
        Case {
            name: "spread",
            spread: true,
            collectors: vec![
                collector("192.0.2.9:32766", CollectorState::Answers, 2000, 0),
                collector("[2001:db8::9]:32766", CollectorState::Silent, 1000, 1010),
                collector("192.0.2.10:1", CollectorState::Unprobed, 0, 0),
            ],
            lines: &[
                "  collectors: 3, each report to one of them",
                "    192.0.2.9:32766      answers (queue 3 % full)  66.7 %  2,000 reports",
                "    [2001:db8::9]:32766  SILENT since 2023-11-14T22:13:20Z  33.3 %  1,000 reports, 101 lost, 1,010 perhaps lost",
                "    192.0.2.10:1         unprobed  0.0 %  0 reports",
            ],
        },
    ];
    for case in cases {
        let mut status = status(Vec::new());
        let sink = status.sink.as_mut().unwrap();
        sink.spread = case.spread;
        sink.collectors = case.collectors;
        let text = StatusText {
            status: &status,
            all: false,
        }
        .to_string();
        let lines = text
            .lines()
            .skip_while(|line| !line.contains("collectors:"));
        let lines: Vec<_> = lines.collect();
        assert_eq!(lines, case.lines, "{}", case.name);
    }
}

#[test]
fn postcards_are_told_with_sums_by_reason_and_their_own_losses() {
    let text = |postcards: PostcardsStatus, all| {
        let status = HostStatus {
            postcards: Some(postcards),
            ..HostStatus::of_nothing()
        };
        let status = &status;
        StatusText { status, all }.to_string()
    };
    let most = text(status_samples::postcards(), false);
    let wanted = "\
postcards: daemon runs (pid 1432), since 2023-11-14 22:13:20 UTC
  pods and containers behind 3 interfaces have names
  collectors: 192.0.2.9:32766, as node 3; 1,234 reports sent, 5 COULD NOT BE SENT
  drops of this network namespace: 1,020 packets, 3 flows reported, a flow again after 1.0 s
           1,012  NETFILTER_DROP     at nft_do_chain on eth0, and 1 other place
               7  OTHERHOST          no loss, not reported
               1  reason 0x20001
              18  ListenOverflows    without a packet
              18  ListenOverflows    without a packet on eth0
  flows of drops: 2 of at most 65,536
               4  events_lost        flows reported later, because the ring was full
  hops at eth0, eth1, by the watchlist: 3 packets timed, 4 lines reported, a flow again after 1.0 s
    from         to           start          packets     p50      p99      max  to queue p50  to queue p99  mean in queue
    eth0         eth1                              3  5.1 us  90.0 us  90.0 us        1.0 us        1.0 us        31.7 us
    interface 2  interface 3  at the sender        0                                  2.0 us        2.0 us
  flows of hops: 2 of at most 65,536
               7  packets for this host, for a group or without a route: not timed
               5  packets for this host or without a route: timed if a socket took them
               2  times that --max-reports put a flow off
  queues of eth1: 2 episodes, 5 lines reported
    queue of        trigger        now   packets  episodes  time over   over  told  not told  dropped  longest wait  most bytes
    eth1         0  200.0 us       over   12,000         2    32.5 ms  1,702    80     1,622        7       16.4 ms     408,618
    interface 3  1  204,800 bytes              9         0       0 ns      0     0         0        0
               3  packets that the queue cut out of superpackets: not timed (a trigger in bytes sees them)
               1  times that --max-reports put an episode off
";
    assert_eq!(most, wanted);
    let mut old = status_samples::postcards();
    if let Some(drops) = &mut old.drops {
        drops.gives_reasons = false;
        drops.netns = "all";
        let one = drops.totals.reasons.remove(0);
        drops.totals.reasons = vec![one; 12];
    }
    for (all, words) in [
        (false, "and 2 other reasons (--all)"),
        (false, "this kernel gives no reasons"),
        (false, "drops of all network namespaces"),
        (true, "0  missed"),
    ] {
        let said = text(old.clone(), all);
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn tcp_connections_are_told_with_what_limits_them_and_their_own_losses() {
    let status = HostStatus {
        tcp: Some(status_samples::tcp()),
        ..HostStatus::of_nothing()
    };
    let text = StatusText {
        status: &status,
        all: false,
    };
    let wanted = "\
tcp: daemon runs (pid 1433), since 2023-11-14 22:13:20 UTC
  collectors: 192.0.2.9:32766, as node 3; 1,234 reports sent, 5 COULD NOT BE SENT
  sampled each 1.0 s, in 3.2 ms; at most 65,536 connections
  12 connections open, limited by: path 9, receiver 3
  since the start: 40 begun, 28 ended, 7 segments retransmitted (2 for nothing), 1 timeout
  6 connections ended unreported to collectors: beyond --max-reports
";
    assert_eq!(text.to_string(), wanted);
}

#[test]
fn names_stand_beside_ids_wherever_a_node_is_named() {
    let mut named = status(vec![flow("192.0.2.1", "198.51.100.2", Vlans::NONE)]);
    let name = |node, name: &str, contested| HostName {
        node: NodeId(node),
        name: name.to_owned(),
        origin: NameOrigin::Told,
        contested,
    };
    let source = named.sink.as_ref().unwrap().flows[0].source_node;
    let long = "compute-node-with-a-long-name.rack-7.example.org";
    for (sentence, told, contested, shown) in [
        ("short", "web-3", false, format!(" web-3 ({source}) ")),
        ("contested", "web-3", true, format!(" web-3? ({source}) ")),
        (
            "without its domain and its middle",
            long,
            false,
            format!(" compute-node…a-long-name ({source}) "),
        ),
    ] {
        named.names = vec![name(3, "me", false), name(source.0, told, contested)];
        let text = StatusText {
            status: &named,
            all: false,
        }
        .to_string();
        assert!(
            text.starts_with("node id 3\nname me\n"),
            "{sentence}: {text}"
        );
        let lines = text.lines().skip_while(|line| !line.starts_with("  flow "));
        let lines: Vec<_> = lines.take_while(|line| line.starts_with("  ")).collect();
        let same = |line: &&str| line.chars().count() == lines[0].chars().count();
        assert!(lines.iter().all(same), "{sentence}: {text}");
        assert!(lines[1].contains(&shown), "{sentence}: {text}");
    }
}

#[test]
fn the_budget_of_summaries_is_told_and_what_it_leaves_out() {
    const SECOND: u64 = 1_000_000_000;
    let budget = |period_s, last_s, most_per_s| SummaryBudget {
        period_ns: period_s * SECOND,
        last_period_ns: last_s * SECOND,
        most_per_s,
    };
    for (sentence, summaries, left_out, line) in [
        ("no daemon", None, 9, None),
        ("off", Some(budget(0, 0, 100)), 0, Some("  no summaries")),
        (
            "before the first",
            Some(budget(10, 0, 1000)),
            0,
            Some("  summaries each 10.0 s, at most 1,000 a second"),
        ),
        (
            "enough",
            Some(budget(10, 10, 100)),
            0,
            Some("  summaries each 10.0 s, at most 100 a second"),
        ),
        (
            "too little for flows",
            Some(budget(10, 10, 100)),
            1234,
            Some(
                "  summaries each 10.0 s, at most 100 a second; 1,234 of flows were left out (--max-summaries)",
            ),
        ),
        (
            "too little for classes",
            Some(budget(10, 14, 1)),
            0,
            Some(
                "  summaries each 10.0 s, at most 1 a second; the last after 14.0 s, because source nodes and classes are \
                 more than that",
            ),
        ),
    ] {
        let mut status = status(Vec::new());
        let sink = status.sink.as_mut().unwrap();
        sink.summaries = summaries;
        sink.daemon = vec![DaemonCounter {
            name: "summaries_left_out",
            text: "",
            value: left_out,
        }];
        let all = true;
        let status = &status;
        let text = StatusText { status, all }.to_string();
        let found = text.lines().find(|line| line.contains("summaries"));
        assert_eq!(found, line, "{sentence}");
    }
}

#[test]
fn flows_come_first_and_jargon_only_with_all() {
    let mut status = status(vec![flow("192.0.2.1", "198.51.100.2", Vlans::NONE)]);
    let mut peer = granted_peer();
    let ways = [Transport::Tcp, Transport::Udp].map(|one| Ways::of(one, Encapsulation::Options));
    peer.lease.proof.ways = Ways::from_bits(ways[0].bits() | ways[1].bits());
    peer.lease.proof.proved_ns = 1;
    status.source = Some(SourceStatus {
        peers: vec![peer],
        peers_total: 1,
        ..status_samples::source()
    });
    let sink = status.sink.as_mut().unwrap();
    (sink.leases_granted, sink.grants) = (1, vec![status_samples::grant()]);
    let text = |all| {
        let status = &status;
        StatusText { status, all }.to_string()
    };
    let (usual, all) = (text(false), text(true));
    let place = |words: &str| {
        usual
            .find(words)
            .unwrap_or_else(|| panic!("{words}: {usual}"))
    };
    assert!(place("flows: 1 of") < place("source:"), "{usual}");
    assert!(place("source:") < place("sink: "), "{usual}");
    assert!(usual.contains("  peers: 1 of 1 ready\n"), "{usual}");
    let line = usual.lines().find(|line| line.contains(" rtt ")).unwrap();
    assert!(line.contains(" ready (options) "), "{line}");
    for jargon in [
        "recognises",
        "report period",
        "bucket edges",
        "stripped 1 in",
    ] {
        assert!(!usual.contains(jargon), "{jargon}: {usual}");
        assert!(all.contains(jargon), "{jargon}: {all}");
    }
}
