//! Kernels that refuse some of what roles ask for: each role starts, traffic passes unharmed, the figures that remain are right,
//! and status names what is missing. What a role cannot do without ends it, and leaves nothing behind.

use std::time::Duration;

use hostint::model::{KERNEL_PARTS, KernelPart, Without};
use hostint_testing::netns::{Daemon, Host, Lab, await_that, pins_below};
use hostint_testing::refusing_kernel::Refused::{
    self, Attachment, Command, Helper, Map, Place, Places, Program, Type,
};
use hostint_testing::refusing_kernel::under;
use libbpf_rs::libbpf_sys as sys;
use serde_json::Value;

use KernelPart as P;

/// All that can be refused of what is optional.
const ALL: [Refused; 11] = [
    Places("iter/"),
    Places("tp_btf/"),
    Type(sys::BPF_PROG_TYPE_SOCK_OPS),
    Type(sys::BPF_PROG_TYPE_CGROUP_SKB),
    Command(sys::BPF_MAP_LOOKUP_BATCH),
    Command(sys::BPF_PROG_TEST_RUN),
    Helper(sys::BPF_FUNC_ktime_get_tai_ns),
    Helper(sys::BPF_FUNC_ktime_get_coarse_ns),
    Helper(sys::BPF_FUNC_check_mtu),
    Helper(sys::BPF_FUNC_xdp_get_buff_len),
    Helper(sys::BPF_FUNC_skb_set_tstamp),
];

/// Nobody listens there: what is told leaves all the same.
const COLLECTOR: &str = "--collector 10.9.1.2";

/// The parts that a status says are missing or replaced.
fn lacks(status: &Value) -> Vec<&str> {
    let all = status["lacks"].as_array().map(Vec::as_slice);
    let parts = all.unwrap_or_default().iter();
    parts.map(|lack| lack["part"].as_str().unwrap()).collect()
}

fn assert_lacks(name: &str, status: &Value, parts: &[KernelPart]) {
    let expected: Vec<&str> = parts.iter().map(|part| part.facts().name).collect();
    assert_eq!(lacks(status), expected, "{name}");
}

/// A datagram from a reaches b.
fn assert_passes(lab: &Lab) {
    let (from, to) = (lab.a.udp("10.9.1.1:0"), lab.b.udp("10.9.2.1:6000"));
    from.send_to(b"whole", "10.9.2.1:6000").unwrap();
    let mut buffer = [0; 100];
    let length = to.recv(&mut buffer).expect("it arrives");
    assert_eq!(&buffer[..length], b"whole");
}

/// A sink on b, and a source with its daemon on a, whose kernels refuse these. All of 300 datagrams arrive but those that m
/// drops, and b knows exactly how many those were.
fn measure(refused: &[Refused]) -> (Lab, Value) {
    let lab = Lab::new();
    let sinks = under(refused, || {
        let sinks = [(&lab.a, "a0", 1), (&lab.b, "b0", 2)].map(|(host, dev, node)| {
            host.leasing_sink(&format!(
                "--dev {dev} --node-id {node} --host-times {COLLECTOR}"
            ))
        });
        lab.a.hostint("source attach --dev a0");
        lab.a.hostint("source add-dest 10.9.2.1");
        sinks
    });
    await_that("a has a lease and knows what passes", || {
        hostint_testing::watched_pair::is_settled(&lab.a)
    });
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    let mut buffer = [0; 100];
    let mut arrive = |count: u32| {
        for n in 0..count {
            from.send_to(&n.to_be_bytes(), "10.9.2.1:6000").unwrap();
        }
        let mut came = 0;
        to.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        while came < count {
            let length = to.recv(&mut buffer).expect("all datagrams arrive");
            assert_eq!((length, &buffer[..4]), (4, &came.to_be_bytes()[..]));
            came += 1;
        }
    };
    arrive(100);
    lab.drop_packets("udp dport { 4790, 6000 } meta length < 200");
    for _ in 0..7 {
        from.send_to(b"lost", "10.9.2.1:6000").unwrap();
    }
    await_that("m dropped them", || {
        lab.m.counted_by_nft("table ip lab").0 == 7
    });
    assert_eq!(lab.dropped(), 7);
    arrive(200);
    await_that("the loss is known", || {
        // The next packet ends a loss period where no program runs at once.
        arrive(1);
        let status = lab.b.status();
        let flows = status["sink"]["flows"].as_array().unwrap();
        flows
            .iter()
            .map(|flow| flow["lost"].as_u64().unwrap())
            .sum::<u64>()
            == 7
    });
    let status = lab.b.status();
    let (tagged, stripped) = (
        lab.a.count("source", "tagged"),
        lab.b.count("sink", "received"),
    );
    assert_eq!(tagged, stripped + 7, "{status:#}");
    assert_eq!(lab.b.checksum_errors(), 0);
    drop(sinks);
    (lab, status)
}

#[test]
fn a_profile_that_refuses_every_call_is_named_as_such() {
    let lab = Lab::new();
    // No kernel knows the last one.
    let all: Vec<Refused> = (0..sys::BPF_PROG_BIND_MAP).map(Command).collect();
    let all = [all, vec![Command(u32::MAX)]].concat();
    let sentence = "the seccomp profile of this process refuses bpf(), which loads programs";
    for line in [
        "sink --dev b0 --node-id 2",
        "source attach --dev b0 --node-id 2 --force",
        "transit attach --dev b0 --node-id 2",
        "postcards --drops",
        "tcp",
    ] {
        let output = under(&all, || lab.b.try_hostint(line));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        assert!(said.contains(sentence), "{line}: {said}");
    }
    let output = under(&all, || lab.b.try_hostint("doctor --json"));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = found["findings"].as_array().unwrap();
    let of = |check: &str| findings.iter().find(|one| one["check"] == check);
    assert_eq!(of("seccomp").unwrap()["verdict"], "fail", "{found:#}");
    assert!(of("kernel-part").is_none(), "{found:#}");
}

#[test]
fn a_sink_measures_without_iterators_and_batches() {
    let refused = [Places("iter/"), Command(sys::BPF_MAP_LOOKUP_BATCH)];
    let (_lab, status) = measure(&refused);
    assert_lacks("iterators and batches", &status, &[P::Batches]);
}

#[test]
fn a_sink_measures_without_tracepoints() {
    let (_lab, status) = measure(&[Places("tp_btf/")]);
    assert_lacks("tracepoints", &status, &[P::HostWaits]);
}

#[test]
fn a_sink_measures_where_all_that_is_optional_is_refused() {
    let (lab, status) = measure(&ALL);
    let parts = [P::Batches, P::TestRun, P::HostWaits];
    assert_lacks("all", &status, &parts);
    let text = lab.b.hostint("status");
    for part in [P::TestRun, P::HostWaits] {
        let sentence = part.facts().sentence();
        assert!(text.contains(&sentence), "{sentence}: {text}");
    }
}

#[test]
fn waits_in_hosts_are_told_as_far_as_tracepoints_go() {
    let cases: [(&str, &[Refused], &[KernelPart]); 2] = [
        (
            "writes",
            &[Place("tp_btf/tcp_sendmsg_locked")],
            &[P::SendBufferWaits],
        ),
        (
            "datagrams",
            &[Place("tp_btf/sk_data_ready")],
            &[P::DatagramWaits],
        ),
    ];
    let lab = Lab::new();
    let none = {
        let mut sink = lab
            .b
            .sink(&format!("--dev b0 --node-id 2 --host-times {COLLECTOR}"));
        let status = lab.b.figures();
        sink.end();
        status
    };
    for (name, refused, parts) in cases {
        let mut sink = under(refused, || {
            lab.b
                .sink(&format!("--dev b0 --node-id 2 --host-times {COLLECTOR}"))
        });
        // What this kernel has not is not there in the other cases either.
        let mut expected: Vec<&str> = lacks(&none);
        expected.extend(parts.iter().map(|part| part.facts().name));
        expected.sort_unstable();
        expected.dedup();
        let status = lab.b.figures();
        let mut found = lacks(&status);
        found.sort_unstable();
        assert_eq!(found, expected, "{name}");
        sink.end();
    }
}

#[test]
fn a_transit_hop_passes_packets_without_the_tracepoint() {
    let lab = Lab::new();
    let hop = under(&[Places("tp_btf/")], || {
        lab.m.start(
            &format!("transit --dev m0 --dev m1 --node-id 9 --waits {COLLECTOR}"),
            "transit hop attached",
        )
    });
    await_that("it goes on without waits", || {
        hop.stderr().contains("how long packets wait")
    });
    assert_lacks("waits", &lab.m.figures(), &[P::QueueWaits]);
    assert_passes(&lab);
    drop(hop);
}

/// Postcards of all kinds, started on a kernel that refuses these.
fn postcards(host: &Host, refused: &[Refused]) -> Daemon {
    under(refused, || {
        let kinds = "--drops --hops --dev m0 --dev m1 --queue m1=trigger:1ms";
        host.start(&format!("postcards {kinds}"), "are reported")
    })
}

#[test]
fn postcards_tell_what_the_kernel_shows() {
    let cases: [(&str, &[Refused], &[KernelPart]); 5] = [
        ("drops", &[Place("tp_btf/kfree_skb")], &[P::Drops]),
        (
            "packets that leave",
            &[Place("tp_btf/net_dev_start_xmit")],
            &[P::Passages],
        ),
        (
            "stamps of packets",
            &[Helper(sys::BPF_FUNC_skb_set_tstamp)],
            &[P::Passages],
        ),
        (
            "packets that leave a queue",
            &[Place("tp_btf/qdisc_dequeue")],
            &[P::QueueEpisodes],
        ),
        (
            "packets that enter a queue",
            &[Place("tp_btf/qdisc_enqueue")],
            &[P::QueueEntries],
        ),
    ];
    let lab = Lab::new();
    for (name, refused, parts) in cases {
        let mut daemon = postcards(&lab.m, refused);
        await_that("the daemon answers", || {
            !lab.m.figures()["postcards"].is_null()
        });
        let status = lab.m.figures();
        assert_lacks(name, &status, parts);
        for (part, kind) in [
            (P::Drops, "drops"),
            (P::Passages, "hops"),
            (P::QueueEpisodes, "queues"),
        ] {
            let is_there = !status["postcards"][kind].is_null();
            assert_eq!(is_there, !parts.contains(&part), "{name}: {kind}");
        }
        assert_passes(&lab);
        assert_eq!(daemon.end(), Some(0), "{name}");
    }
}

#[test]
fn tcp_tells_what_the_kernel_shows() {
    let cases: [(&str, &[Refused], &[KernelPart]); 4] = [
        (
            "open connections",
            &[Place("iter/tcp")],
            &[P::OpenConnections],
        ),
        (
            "endings",
            &[Place("tp_btf/inet_sock_set_state")],
            &[P::Endings],
        ),
        (
            "sockops",
            &[Type(sys::BPF_PROG_TYPE_SOCK_OPS)],
            &[P::Option114],
        ),
        (
            "changes of connections that are there",
            &[Program("adopt_connections")],
            &[P::AdoptedConnections],
        ),
    ];
    let lab = Lab::new();
    for (name, refused, parts) in cases {
        let mut daemon = under(refused, || {
            lab.a.start("tcp --option all", "connections are watched")
        });
        // iter/tcp is the place of both walks.
        await_that("the daemon answers", || !lab.a.figures()["tcp"].is_null());
        let status = lab.a.figures();
        let found = lacks(&status);
        for part in parts {
            assert!(found.contains(&part.facts().name), "{name}: {found:?}");
        }
        assert_passes(&lab);
        assert_eq!(daemon.end(), Some(0), "{name}");
    }
}

#[test]
fn a_role_that_cannot_run_says_why_and_leaves_nothing() {
    let no_types = "unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec \"$0\" \"$@\"'";
    let roles = [
        ("sink", "sink --dev b0 --node-id 2 --hook tc"),
        ("source", "source attach --dev b0 --node-id 2 --force"),
        ("transit", "transit --dev b0 --node-id 2"),
    ];
    let cases: [(&str, &[Refused], &str, &[&str]); 5] = [
        (
            "programs of tc",
            &[Type(sys::BPF_PROG_TYPE_SCHED_CLS)],
            "of type tc",
            &["sink", "source", "transit"],
        ),
        (
            "XDP, and the sink may take nothing else",
            &[Type(sys::BPF_PROG_TYPE_XDP)],
            "of type xdp",
            &["xdp"],
        ),
        (
            "rings",
            &[Map(sys::BPF_MAP_TYPE_RINGBUF)],
            "the kernel refuses the map sink_events",
            &["sink"],
        ),
        (
            "tcx",
            &[Attachment(sys::BPF_TCX_INGRESS)],
            "Operation not permitted",
            &["sink"],
        ),
        (
            "types of the kernel",
            &[],
            "BTF",
            &["sink", "source", "transit"],
        ),
    ];
    let lab = Lab::new();
    let xdp = ("xdp", "sink --dev b0 --node-id 2 --hook xdp");
    for (name, refused, words, of) in cases {
        for (role, line) in roles.into_iter().chain([xdp]) {
            if !of.contains(&role) {
                continue;
            }
            let output = under(refused, || match refused {
                [] => lab
                    .b
                    .command(
                        "sh",
                        &[
                            "-c",
                            &format!("exec {no_types} {} {line}", lab.b.binary.display()),
                        ],
                    )
                    .output()
                    .unwrap(),
                _ => lab.b.try_hostint(line),
            });
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{name}, {role}: {said}");
            assert!(said.contains(words), "{name}, {role}: {said}");
            assert!(!said.contains("try --bpffs"), "{name}, {role}: {said}");
            assert!(pins_below(&lab.b.pins()).is_empty(), "{name}, {role}");
            let attached = lab
                .b
                .sh("ip link show b0; tc filter show dev b0 ingress; tc filter show dev b0 egress");
            assert!(
                !attached.contains("xdp") && !attached.contains("bpf"),
                "{name}, {role}: {attached}"
            );
        }
    }
    for (line, refused) in [
        ("postcards --drops", &[Places("tp_btf/")][..]),
        ("tcp", &[Places("tp_btf/"), Places("iter/")][..]),
    ] {
        let output = under(refused, || lab.b.try_hostint(line));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        assert!(said.contains("lacks or refuses"), "{line}: {said}");
    }
}

#[test]
fn the_sink_takes_the_other_hook_where_xdp_is_refused() {
    let lab = Lab::new();
    // A host that forwards would take XDP.
    let sink = under(&[Type(sys::BPF_PROG_TYPE_XDP)], || {
        lab.m.leasing_sink("--dev m0 --node-id 3")
    });
    assert_eq!(lab.m.figures()["sink"]["attachments"][0]["hook"], "tc");
    drop(sink);
}

#[test]
fn the_preflight_names_each_part_that_is_refused() {
    let lab = Lab::new();
    let mut refused = ALL.to_vec();
    refused.extend([
        Helper(sys::BPF_FUNC_probe_read_kernel),
        // Atomics are tried with one. libbpf tries with them, too, what else it needs.
        Type(sys::BPF_PROG_TYPE_SOCKET_FILTER),
        Type(sys::BPF_PROG_TYPE_XDP),
        Map(sys::BPF_MAP_TYPE_RINGBUF),
        Command(sys::BPF_PROG_QUERY),
    ]);
    let output = under(&refused, || lab.b.try_hostint("doctor --json --dev b0"));
    let preflight: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = preflight["findings"].as_array().unwrap();
    let found: Vec<&str> = findings
        .iter()
        .filter(|one| one["check"] == "kernel-part")
        .map(|one| one["found"].as_str().unwrap())
        .collect();
    // The kernel describes what stands behind the last of these by its types alone.
    let rest = [P::KernelTypes, P::Tc, P::ChecksumState, P::NicStamps];
    for row in KERNEL_PARTS.iter().filter(|row| !rest.contains(&row.part)) {
        let sentence = row.sentence();
        let is_found = found.iter().any(|one| one.starts_with(&sentence));
        // What adds to others is not tried without them.
        let adds = matches!(
            row.part,
            P::SendBufferWaits
                | P::DatagramWaits
                | P::SocketPassages
                | P::QueueEntries
                | P::Option114
                | P::AdoptedConnections
        );
        assert!(is_found || adds, "{}: {found:#?}", row.name);
    }
    let ends = KERNEL_PARTS
        .iter()
        .filter(|row| row.without == Without::CannotRun);
    assert!(preflight["failures"].as_u64() <= Some(ends.count() as u64 + 1));
}
