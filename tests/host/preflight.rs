//! Preflight findings follow from facts about hosts and network cards that are not at hand.

use std::collections::BTreeMap;

use hostint::model::preflight::*;
use hostint::model::{
    CollectorStatus, HostStatus, KERNEL_PARTS, KernelPart, LeaseState, PeerStatus, SinkStatus,
    Surroundings, Without,
};
use hostint::os::nftables;
use hostint::views::preflight::{
    PreflightText, judge_device, judge_drops, judge_host, judge_network, judge_running,
};
use hostint_testing::status_samples::{idle_sink, nothing, reasons, silent_peer, source};

fn host() -> HostFacts {
    HostFacts {
        release: "6.18.1-generic".to_owned(),
        btf: true,
        missing_parts: Some(Vec::new()),
        programs: Some(Ok(())),
        jit: true,
        lockdown: Some("none".to_owned()),
        unprivileged_bpf: false,
        missing_capabilities: Vec::new(),
        surroundings: Surroundings::Machine,
        is_root: true,
        profile_refuses_bpf: false,
        own_cgroups: false,
        bpffs: BpffsFacts {
            path: Some("/sys/fs/bpf".to_owned()),
            writable: true,
            read_only: false,
            refused: None,
            open: false,
            mountable: true,
        },
        clock: ClockFacts {
            synchronised: true,
            tai_offset_s: 37,
            estimated_error_us: 12,
            greatest_error_us: 340,
        },
    }
}

/// A card that can do all.
fn card() -> DeviceFacts {
    let on = [
        "tx-checksum-ip-generic",
        "rx-checksum",
        "rx-gro",
        "tx-generic-segmentation",
        "tx-tcp-segmentation",
        "tx-udp_tnl-segmentation",
        "tx-udp_tnl-csum-segmentation",
    ];
    DeviceFacts {
        name: "eth1".to_owned(),
        ethernet: true,
        up: true,
        running: true,
        mtu: 1500,
        driver: Some("ice".to_owned()),
        page_bytes: 4096,
        xdp: Some(0x27),
        hook: None,
        qdisc: Some("mq".to_owned()),
        head_room: Some(2),
        offloads: on
            .into_iter()
            .map(|name| (name.to_owned(), true))
            .collect::<BTreeMap<_, _>>(),
        occupants: Vec::new(),
        tcx: Some(true),
    }
}

fn assert_said(sentence: &str, findings: &[Finding], check: &str, verdict: Verdict, words: &str) {
    let of_check: Vec<&Finding> = findings.iter().filter(|one| one.check == check).collect();
    assert!(
        of_check
            .iter()
            .any(|one| one.verdict == verdict && one.found.contains(words)),
        "{sentence}: {of_check:#?}"
    );
}

#[test]
fn hosts_are_judged_by_what_they_have() {
    use Verdict::{Fail, Note, Ok};
    type Case = (
        &'static str,
        fn(&mut HostFacts),
        &'static str,
        Verdict,
        &'static str,
    );
    let cases: [Case; 22] = [
        (
            "new enough",
            |_| {},
            "kernel",
            Ok,
            "Linux 6.18.1-generic with BTF",
        ),
        (
            "too old",
            |it| it.release = "5.4.0-200".to_owned(),
            "kernel",
            Fail,
            "5.4.0",
        ),
        (
            "as old as can be",
            |it| it.release = "5.10.1".to_owned(),
            "kernel",
            Ok,
            "Linux 5.10.1 with BTF",
        ),
        (
            "a release without numbers is not called old",
            |it| it.release = "next".to_owned(),
            "kernel",
            Ok,
            "next",
        ),
        ("no BTF", |it| it.btf = false, "kernel", Fail, "without BTF"),
        (
            "no root",
            |it| it.missing_capabilities = vec!["CAP_BPF".to_owned()],
            "capabilities",
            Fail,
            "missing CAP_BPF",
        ),
        (
            "no raw sockets",
            |it| it.missing_capabilities = vec!["CAP_NET_RAW".to_owned()],
            "capabilities",
            Note,
            "hostint cannot ask for leases",
        ),
        (
            "no bpffs, but rights",
            |it| it.bpffs.path = None,
            "bpffs",
            Note,
            "hostint mounts one",
        ),
        (
            "no bpffs, and no rights",
            |it| {
                it.bpffs.path = None;
                it.bpffs.mountable = false;
            },
            "bpffs",
            Fail,
            "cannot mount one",
        ),
        (
            "a bpffs for all",
            |it| it.bpffs.open = true,
            "bpffs",
            Note,
            "where every user may create folders",
        ),
        (
            "a bpffs of others",
            |it| it.bpffs.writable = false,
            "bpffs",
            Fail,
            "not writable",
        ),
        (
            "a bpffs that is mounted read-only",
            |it| {
                it.bpffs.writable = false;
                it.bpffs.read_only = true;
            },
            "bpffs",
            Fail,
            "/sys/fs/bpf is mounted read-only",
        ),
        (
            "a bpffs that a daemon may not see",
            |it| {
                it.bpffs.path = None;
                it.bpffs.refused = Some("/proc/1/root/sys/fs/bpf: Permission denied".to_owned());
            },
            "bpffs",
            Fail,
            "/proc/1/root/sys/fs/bpf: Permission denied",
        ),
        (
            "the verifier refuses",
            |it| it.programs = Some(Err("too complex".to_owned())),
            "programs",
            Fail,
            "refuses the sink's programs: too complex",
        ),
        (
            "all parts",
            |_| {},
            "kernel-part",
            Ok,
            "all 30 that hostint uses",
        ),
        (
            "parts not tried",
            |it| it.missing_parts = None,
            "kernel-part",
            Note,
            "not tried",
        ),
        (
            "BPF for all",
            |it| it.unprivileged_bpf = true,
            "unprivileged",
            Note,
            "any user",
        ),
        ("no JIT", |it| it.jit = false, "jit", Note, "interpreted"),
        (
            "locked down",
            |it| it.lockdown = Some("confidentiality".to_owned()),
            "lockdown",
            Note,
            "may not read kernel memory",
        ),
        (
            "synchronised",
            |_| {},
            "clock",
            Ok,
            "estimated error 12 us, at most 340 us",
        ),
        (
            "not synchronised",
            |it| it.clock.synchronised = false,
            "clock",
            Note,
            "not synchronised",
        ),
        (
            "no TAI",
            |it| it.clock.tai_offset_s = 0,
            "tai",
            Note,
            "does not know the TAI offset",
        ),
    ];
    for (sentence, change, check, verdict, words) in cases {
        let mut facts = host();
        change(&mut facts);
        assert_said(sentence, &judge_host(&facts), check, verdict, words);
    }
    assert!(judge_host(&host()).iter().all(|one| one.verdict == Ok));
}

#[test]
fn cards_are_judged_by_what_they_can_do() {
    use Verdict::{Fail, Note, Ok};
    type Case = (
        &'static str,
        fn(&mut DeviceFacts),
        &'static str,
        Verdict,
        &'static str,
    );
    fn off(facts: &mut DeviceFacts, name: &str) {
        facts.offloads.insert(name.to_owned(), false);
    }
    fn on(facts: &mut DeviceFacts, name: &str) {
        facts.offloads.insert(name.to_owned(), true);
    }
    let cases: [Case; 28] = [
        (
            "connected",
            |_| {},
            "interface",
            Ok,
            "Ethernet, driver ice, up",
        ),
        ("down", |it| it.up = false, "interface", Note, "down"),
        (
            "unplugged",
            |it| it.running = false,
            "interface",
            Note,
            "no link",
        ),
        (
            "a tunnel",
            |it| it.ethernet = false,
            "interface",
            Fail,
            "no Ethernet header",
        ),
        (
            "a card",
            |_| {},
            "head-room",
            Ok,
            "2 bytes free in front of them, of which INT takes 88 (over IPv6 108): their first part is copied",
        ),
        (
            "a link that asks for room",
            |it| it.head_room = Some(98),
            "head-room",
            Ok,
            "packets over IPv6 are copied for it",
        ),
        (
            "a link that asks for more room",
            |it| it.head_room = Some(114),
            "head-room",
            Ok,
            "no packet is copied for it",
        ),
        (
            "jumbo frames",
            |it| it.mtu = 9000,
            "xdp",
            Ok,
            "with jumbo frames",
        ),
        (
            "jumbo frames, but one buffer",
            |it| {
                it.mtu = 9000;
                it.xdp = Some(0x07);
            },
            "xdp",
            Note,
            "with an MTU of 9000 perhaps generic",
        ),
        (
            "jumbo frames, and a buffer of one page that is long enough",
            |it| {
                it.mtu = 9000;
                it.xdp = Some(0x07);
                it.page_bytes = 65_536;
            },
            "xdp",
            Ok,
            "native",
        ),
        (
            "the longest packet in a page",
            |it| {
                it.mtu = 3498;
                it.xdp = Some(0x07);
            },
            "xdp",
            Ok,
            "native",
        ),
        (
            "a packet that is longer than a page",
            |it| {
                it.mtu = 3499;
                it.xdp = Some(0x07);
            },
            "xdp",
            Note,
            "with an MTU of 3499 perhaps generic",
        ),
        (
            "no native XDP",
            |it| it.xdp = Some(0),
            "xdp",
            Note,
            "no native XDP",
        ),
        (
            "an old kernel, a driver that has it",
            |it| it.xdp = None,
            "xdp",
            Ok,
            "judging by the driver's name",
        ),
        (
            "an old kernel, another driver",
            |it| {
                it.xdp = None;
                it.driver = Some("e1000e".to_owned());
            },
            "xdp",
            Note,
            "no native XDP",
        ),
        (
            "checksums by position",
            |_| {},
            "checksum",
            Ok,
            "any protocol",
        ),
        (
            "checksums by header",
            |it| {
                off(it, "tx-checksum-ip-generic");
                on(it, "tx-checksum-ipv4");
            },
            "checksum",
            Note,
            "untested with INT",
        ),
        (
            "no checksums",
            |it| off(it, "tx-checksum-ip-generic"),
            "checksum",
            Ok,
            "sent: by the CPU",
        ),
        (
            "LRO",
            |it| on(it, "rx-lro"),
            "merging",
            Note,
            "LRO merges packets before",
        ),
        (
            "no GRO",
            |it| off(it, "rx-gro"),
            "merging",
            Note,
            "not merged",
        ),
        (
            "no tunnels",
            |it| off(it, "tx-udp_tnl-segmentation"),
            "segmentation",
            Note,
            "not in tunnels",
        ),
        (
            "no segmentation",
            |it| {
                off(it, "tx-tcp-segmentation");
                off(it, "tx-generic-segmentation");
            },
            "segmentation",
            Ok,
            "no superpackets",
        ),
        (
            "a small MTU",
            |it| it.mtu = 600,
            "mtu",
            Note,
            "hardly any room",
        ),
        ("free hooks", |_| {}, "hooks", Ok, "free (XDP, tcx, clsact)"),
        (
            "free hooks of an older kernel",
            |it| it.tcx = Some(false),
            "hooks",
            Ok,
            "no tcx",
        ),
        (
            "XDP taken",
            |it| {
                it.occupants.push(Occupant {
                    hook: "xdp".to_owned(),
                    id: 7,
                    name: "xdp_lb".to_owned(),
                    owner: Owner::Other,
                });
            },
            "hooks",
            Fail,
            "xdp: xdp_lb (id 7), not hostint's",
        ),
        (
            "XDP taken by a program of ours that no pin tells of",
            |it| {
                it.occupants.push(Occupant {
                    hook: "xdp".to_owned(),
                    id: 7,
                    name: "sink".to_owned(),
                    owner: Owner::Orphan { link: Some(12) },
                });
            },
            "hooks",
            Fail,
            "xdp: sink (id 7), hostint's own, but pinned in another BPF file system",
        ),
        (
            "XDP taken by us",
            |it| {
                it.occupants.push(Occupant {
                    hook: "xdp".to_owned(),
                    id: 7,
                    name: "sink".to_owned(),
                    owner: Owner::Hostint,
                });
            },
            "hooks",
            Ok,
            "hostint's own",
        ),
    ];
    for (sentence, change, check, verdict, words) in cases {
        let mut facts = card();
        change(&mut facts);
        let findings = judge_device(&facts);
        assert_said(sentence, &findings, check, verdict, words);
        for finding in &findings {
            assert_eq!(finding.dev.as_deref(), Some("eth1"), "{sentence}");
            let advised = finding.advice.is_some();
            assert_eq!(advised, finding.verdict != Ok, "{sentence}: {finding:?}");
        }
    }
}

#[test]
fn rules_that_drop_are_counted_where_packets_meet_them() {
    let ruleset = br#"{"nftables": [
        {"metainfo": {"version": "1.0.6"}},
        {"chain": {"family": "inet", "table": "f", "name": "in", "hook": "input", "policy": "drop"}},
        {"chain": {"family": "inet", "table": "f", "name": "out", "hook": "output", "policy": "accept"}},
        {"chain": {"family": "inet", "table": "f", "name": "bad"}},
        {"chain": {"family": "ip", "table": "f", "name": "bad"}},
        {"rule": {"family": "inet", "table": "f", "chain": "in", "expr": [{"counter": null}, {"accept": null}]}},
        {"rule": {"family": "inet", "table": "f", "chain": "in", "expr": [
            {"vmap": {"key": 1, "data": {"set": [[7, {"drop": null}], [9, {"jump": {"target": "bad"}}]]}}}]}},
        {"rule": {"family": "inet", "table": "f", "chain": "in", "expr": [{"goto": {"target": "bad"}}]}},
        {"rule": {"family": "inet", "table": "f", "chain": "bad", "expr": [{"reject": {"type": "icmp"}}]}},
        {"rule": {"family": "inet", "table": "f", "chain": "bad", "expr": [{"jump": {"target": "bad"}}]}},
        {"rule": {"family": "ip", "table": "f", "chain": "bad", "expr": [{"drop": null}]}}
    ]}"#;
    let chains = nftables::parse(ruleset).unwrap();
    let told: Vec<_> = chains
        .iter()
        .map(|one| (one.hook.as_str(), one.drops_by_policy, one.drops))
        .collect();
    assert_eq!(told, [("input", true, 2), ("output", false, 0)]);
    for broken in [&b""[..], b"{", b"[]x"] {
        assert!(nftables::parse(broken).is_err());
    }
    for empty in [&b"{}"[..], b"[]", b"{\"nftables\": 3}"] {
        assert_eq!(nftables::parse(empty).unwrap(), []);
    }
}

#[test]
fn the_network_is_judged_by_what_is_in_the_way() {
    use Verdict::{Fail, Note, Ok};
    type Case = (
        &'static str,
        fn(&mut NetworkFacts),
        &'static str,
        Verdict,
        &'static str,
    );
    let filter = PacketFilter {
        chain: "inet filter input".to_owned(),
        hook: "input".to_owned(),
        drops_by_policy: false,
        drops: 3,
    };
    let free = NetworkFacts {
        filters: Some(vec![PacketFilter {
            drops: 0,
            ..filter.clone()
        }]),
        report_ports: vec![32766],
        ..NetworkFacts::default()
    };
    let cases: [Case; 7] = [
        (
            "nothing drops",
            |_| {},
            "firewall",
            Ok,
            "nftables drops nothing",
        ),
        (
            "three rules",
            |it| it.filters.as_mut().unwrap()[0].drops = 3,
            "firewall",
            Note,
            "3 rules drop on hook input, chain inet filter input",
        ),
        (
            "a policy",
            |it| it.filters.as_mut().unwrap()[0].drops_by_policy = true,
            "firewall",
            Note,
            "policy drop on hook input",
        ),
        (
            "nobody to ask",
            |it| {
                it.filters = None;
                it.filters_unknown = "there is no nft to ask";
            },
            "firewall",
            Note,
            "unknown: there is no nft to ask",
        ),
        (
            "iptables of old",
            |it| it.legacy_tables = vec!["filter".to_owned()],
            "firewall",
            Note,
            "legacy iptables has tables: filter",
        ),
        (
            "no pings",
            |it| it.ignores_pings = true,
            "pings",
            Fail,
            "ignores pings",
        ),
        (
            "no way",
            |it| it.collectors = vec![("192.0.2.9:32766".parse().unwrap(), None)],
            "collector",
            Fail,
            "192.0.2.9:32766: no route",
        ),
    ];
    for (sentence, change, check, verdict, words) in cases {
        let mut facts = free.clone();
        change(&mut facts);
        assert_said(sentence, &judge_network(&facts), check, verdict, words);
    }
}

#[test]
fn the_list_reads_line_by_line_and_ends_with_the_verdict() {
    let one = |verdict: fn(&'static str, &'static str) -> Finding| verdict("clock", "so and so");
    fn ok(check: &'static str, found: &'static str) -> Finding {
        Finding::ok(check, found)
    }
    fn note(check: &'static str, found: &'static str) -> Finding {
        Finding::note(check, found).advise("do this")
    }
    fn fail(check: &'static str, found: &'static str) -> Finding {
        Finding {
            dev: Some("eth1".to_owned()),
            ..Finding::fail(check, found).advise("do that")
        }
    }
    for (sentence, findings, text) in [
        (
            "all is well",
            vec![one(ok)],
            "ok    clock         so and so\nready\n",
        ),
        (
            "a note",
            vec![one(note)],
            "note  clock         so and so (do this)\nready, with 1 note\n",
        ),
        (
            "a failure of an interface",
            vec![one(ok), one(fail), one(fail)],
            "ok    clock         so and so\neth1:\nFAIL  clock         so and so (do that)\n\
             FAIL  clock         so and so (do that)\nNOT ready: 2 failures\n",
        ),
    ] {
        let found = &Preflight::new(findings);
        let all = PreflightText { found, all: true }.to_string();
        assert_eq!(all, text, "{sentence}");
        let (failures, notes) = (found.failures, found.notes);
        let bad = PreflightText { found, all: false }.to_string();
        assert!(!bad.contains("ok  "), "{sentence}: {bad}");
        assert_eq!(bad.matches("FAIL").count(), failures, "{sentence}: {bad}");
        assert_eq!(bad.matches("note  ").count(), notes, "{sentence}: {bad}");
        let fine = found.findings.len() - failures - notes;
        assert!(bad.contains(&format!("{fine} check")), "{sentence}: {bad}");
    }
}

#[test]
fn drops_are_judged_where_they_can_be_seen() {
    use Verdict::{Note, Ok};
    let all = || DropsFacts {
        reasons: 139,
        names_places: true,
    };
    let cases: [(&str, DropsFacts, &str, Verdict, &str); 4] = [
        ("all is there", all(), "drops", Ok, "with 139 reasons"),
        ("names", all(), "drop-places", Ok, "have names"),
        (
            "no reasons",
            DropsFacts {
                reasons: 0,
                ..all()
            },
            "drops",
            Note,
            "Linux 6.18.1-generic gives no reasons",
        ),
        (
            "hidden addresses",
            DropsFacts {
                names_places: false,
                ..all()
            },
            "drop-places",
            Note,
            "hides the addresses",
        ),
    ];
    for (sentence, facts, check, verdict, words) in cases {
        let found = judge_drops(&facts, &host());
        assert_said(sentence, &found, check, verdict, words);
        for one in found {
            assert_eq!(one.verdict == Ok, one.advice.is_none(), "{sentence}");
        }
    }
    let blind = HostFacts {
        missing_parts: Some(vec![(KernelPart::Drops, None)]),
        ..host()
    };
    assert!(judge_drops(&all(), &blind).is_empty(), "no drops are seen");
}

#[test]
fn containers_are_advised_what_their_engine_takes() {
    use Surroundings::{Container, Machine, Pod};
    type Case = (fn(&mut HostFacts), &'static str, &'static str, &'static str);
    let cases: [Case; 5] = [
        (
            |it| it.missing_capabilities = vec!["CAP_BPF".to_owned(), "CAP_PERFMON".to_owned()],
            "capabilities",
            "--cap-add BPF --cap-add PERFMON",
            "securityContext.capabilities.add: [BPF, PERFMON]",
        ),
        (
            |it| {
                it.missing_capabilities = vec!["CAP_NET_RAW".to_owned()];
                it.is_root = false;
            },
            "capabilities",
            "--user 0 --cap-add NET_RAW",
            "securityContext.runAsUser: 0 and securityContext.capabilities.add: [NET_RAW]",
        ),
        (
            |it| {
                it.bpffs.path = None;
                it.bpffs.mountable = false;
            },
            "bpffs",
            "--volume /sys/fs/bpf:/sys/fs/bpf",
            "a hostPath volume of /sys/fs/bpf",
        ),
        (
            |it| it.profile_refuses_bpf = true,
            "seccomp",
            "--security-opt seccomp=/usr/share/hostint/seccomp.json",
            "a seccompProfile of type Localhost with hostint's profile, /usr/share/hostint/seccomp.json",
        ),
        (
            |it| it.own_cgroups = true,
            "cgroup",
            "--volume /sys/fs/cgroup:/sys/fs/cgroup",
            "a hostPath volume of /sys/fs/cgroup",
        ),
    ];
    let advice = |change: fn(&mut HostFacts), surroundings, check| {
        let mut facts = host();
        change(&mut facts);
        facts.surroundings = surroundings;
        let found = judge_host(&facts)
            .into_iter()
            .find(|one| one.check == check);
        found.map(|one| one.advice.expect("something to try"))
    };
    for (change, check, container, pod) in cases {
        assert_eq!(advice(change, Container, check).as_deref(), Some(container));
        assert_eq!(advice(change, Pod, check).as_deref(), Some(pod));
        // The control group of a machine container is that of all its sockets.
        let machine = advice(change, Machine, check);
        assert_eq!(machine.is_none(), check == "cgroup", "{machine:?}");
        assert!(machine.is_none_or(|advice| !advice.contains("--volume")));
    }
    let hidden = DropsFacts {
        names_places: false,
        ..DropsFacts::default()
    };
    let container = HostFacts {
        surroundings: Container,
        ..host()
    };
    let found = judge_drops(&hidden, &container);
    let mut advice = found.iter().filter_map(|one| one.advice.as_deref());
    assert!(advice.any(|advice| advice.starts_with("--cap-add SYSLOG, ")));
}

#[test]
fn each_part_that_is_missing_is_told_with_the_words_of_the_table() {
    for row in KERNEL_PARTS {
        let facts = HostFacts {
            missing_parts: Some(vec![(row.part, Some("so and so".to_owned()))]),
            ..host()
        };
        let verdict = match row.without {
            Without::CannotRun => Verdict::Fail,
            _ => Verdict::Note,
        };
        let found = judge_host(&facts);
        let sentence = format!("{}: so and so", row.sentence());
        assert_said(row.name, &found, "kernel-part", verdict, &sentence);
        let advice = found.iter().find_map(|one| one.advice.as_deref());
        let since = format!("Linux {} or newer has it", row.since);
        assert!(
            advice.is_some_and(|advice| advice.starts_with(&since)),
            "{advice:?}"
        );
    }
}

#[test]
fn the_rows_of_parts_have_the_order_of_their_bits() {
    for (n, row) in KERNEL_PARTS.iter().enumerate() {
        assert_eq!(row.part as usize, n, "{}", row.name);
    }
}

/// A status whose source has one peer in this state.
fn with_peer(state: LeaseState, dest: &str) -> HostStatus {
    let mut peer = PeerStatus {
        dest: dest.parse().unwrap(),
        ..silent_peer()
    };
    peer.lease.state = state;
    let mut source = source();
    source.peers = vec![peer];
    HostStatus {
        source: Some(source),
        ..nothing()
    }
}

/// A check, its verdict, and words of what was found.
type Judged = (&'static str, Verdict, &'static str);

#[test]
fn what_runs_is_judged_by_what_it_says() {
    use Verdict::{Fail, Note};
    // The source watches 192.0.2.2 by its name.
    let (named, other) = ("192.0.2.2", "192.0.2.9");
    let silent = CollectorStatus {
        address: "192.0.2.7:32766".parse().unwrap(),
        state: "silent",
        since_ns: 1_700_000_000_000_000_000,
        sent: 1,
        lost: 0,
        doubtful: 1,
        queue_percent: None,
    };
    let cases: Vec<(&str, HostStatus, Vec<Judged>)> = vec![
        ("nothing runs", nothing(), vec![]),
        (
            "hostint is off",
            HostStatus {
                off_since_ns: Some(1_700_000_000_000_000_000),
                ..nothing()
            },
            vec![("off", Fail, "since 2023-11-14")],
        ),
        (
            "a sink with its daemon",
            HostStatus {
                sink: Some(idle_sink()),
                ..nothing()
            },
            vec![],
        ),
        (
            "a sink without one",
            HostStatus {
                sink: Some(SinkStatus {
                    daemon_pid: None,
                    ..idle_sink()
                }),
                ..nothing()
            },
            vec![("daemon", Fail, "no daemon runs")],
        ),
        (
            "a collector that fell silent",
            HostStatus {
                sink: Some(SinkStatus {
                    collectors: vec![silent],
                    ..idle_sink()
                }),
                ..nothing()
            },
            vec![("collector", Fail, "192.0.2.7:32766 has been silent since")],
        ),
        (
            "a destination that is watched by name and has no sink",
            with_peer(LeaseState::NoSink, named),
            vec![("peer", Note, "192.0.2.2 no sink in front of it")],
        ),
        (
            "a host without a sink to which packets go",
            with_peer(LeaseState::NoSink, other),
            vec![],
        ),
        (
            "a sink with another key",
            with_peer(LeaseState::Forged, other),
            vec![("peer", Fail, "--lease-key")],
        ),
        (
            "a sink that grants a lease, and whose path is not proved yet",
            with_peer(LeaseState::Granted, named),
            vec![],
        ),
        (
            "reasons of counters",
            HostStatus {
                why: reasons(),
                ..nothing()
            },
            vec![
                ("tagging", Fail, ""),
                ("transit", Note, "1 "),
                ("stripping", Fail, "1 "),
                ("measuring", Note, "1 "),
                ("measuring", Note, "1 "),
            ],
        ),
    ];
    for (sentence, status, expected) in cases {
        let found = judge_running(&status);
        let facts: Vec<_> = found.iter().map(|one| (one.check, one.verdict)).collect();
        let wanted: Vec<_> = expected.iter().map(|one| (one.0, one.1)).collect();
        assert_eq!(facts, wanted, "{sentence}: {found:#?}");
        for (one, (_, _, words)) in found.iter().zip(expected) {
            assert!(one.found.contains(words), "{sentence}: {}", one.found);
        }
    }
}
