//! A program that others take off is put back, and interfaces that vanish, return or are renamed are followed.

use hostint_testing::netns::{Daemon, Lab, await_that, await_that_or, pins_below, sh, with_form};

use crate::exchange::exchange_udp;
use crate::foreign::take_off;

fn await_said(daemon: &Daemon, name: &str, what: &str) {
    await_that_or(
        || daemon.stderr().contains(what),
        || format!("{name}: never said {what:?}: {}", daemon.stderr()),
    );
}

/// Sends until a packet is tagged and stripped again.
fn await_measured(lab: &Lab, name: &str) {
    let counts = || {
        (
            lab.a.count("source", "tagged"),
            lab.b.count("sink", "received"),
        )
    };
    let from = lab.a.udp("10.9.1.1:0");
    let before = counts();
    await_that(
        &format!("{name}: packets are tagged and stripped again"),
        || {
            from.send_to(b"again?", "10.9.2.1:6001").unwrap();
            let now = counts();
            now.0 > before.0 && now.1 > before.1
        },
    );
    // All that was on the way is through.
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    let before = counts();
    exchange_udp(&from, &to, 100, 1000);
    let now = counts();
    assert_eq!((now.0 - before.0, now.1 - before.1), (100, 100), "{name}");
}

/// a tags to b, both with daemons.
fn measure(lab: &Lab, source: &str, sink: &str) -> [Daemon; 2] {
    let daemons = [
        lab.a.sink(&format!("--dev a0 --node-id 1 {sink}")),
        lab.b.sink(&format!("--dev b0 --node-id 2 {sink}")),
    ];
    lab.a
        .hostint(&format!("source attach --dev a0 {}", with_form(source)));
    lab.a.hostint("source add-dest --static 10.9.2.1");
    daemons
}

/// Detaches everything; nothing stays behind.
fn assert_all_detaches(lab: &Lab, name: &str, daemons: [Daemon; 2]) {
    let folders = [lab.a.pins(), lab.b.pins()];
    lab.a.hostint("source detach");
    lab.a.hostint("sink detach");
    lab.b.hostint("sink detach");
    for mut daemon in daemons {
        assert_eq!(daemon.wait(), Some(0), "{name}: {}", daemon.stderr());
    }
    for (host, folder) in [&lab.a, &lab.b].into_iter().zip(folders) {
        assert_eq!(host.try_hostint("status").status.code(), Some(3), "{name}");
        assert_eq!(pins_below(&folder), Vec::<String>::new(), "{name}");
        let links = host.sh("ip -d link; tc qdisc");
        assert!(
            !links.contains("prog/xdp") && !links.contains("clsact"),
            "{name}: {links}"
        );
    }
}

#[test]
fn programs_that_others_take_off_are_put_back() {
    struct Case {
        name: &'static str,
        source: &'static str,
        sink: &'static str,
        harm: fn(&Lab),
        on_a: bool,
        says: &'static str,
    }
    const SOURCE: &str = "the source was no longer attached to a0: attached again";
    const SINK: &str = "the sink was no longer attached to b0: attached again";
    let cases = [
        Case {
            name: "the sink's XDP link is detached",
            source: "",
            sink: "--hook xdp",
            harm: |lab| take_off(&lab.b, "sink", "b0"),
            on_a: false,
            says: SINK,
        },
        Case {
            name: "the sink's tcx link is detached",
            source: "",
            sink: "--hook tc",
            harm: |lab| take_off(&lab.b, "sink-tc", "b0"),
            on_a: false,
            says: SINK,
        },
        Case {
            name: "the source's tcx link is detached",
            source: "",
            sink: "",
            harm: |lab| take_off(&lab.a, "source-tc", "a0"),
            on_a: true,
            says: SOURCE,
        },
        Case {
            name: "the link of the source's program for answers is detached",
            source: "",
            sink: "",
            harm: |lab| take_off(&lab.a, "source-peer", "a0"),
            on_a: true,
            says: SOURCE,
        },
        Case {
            name: "the source's filter is deleted",
            source: "--no-tcx",
            sink: "",
            harm: |lab| {
                lab.a.sh("tc filter del dev a0 egress");
            },
            on_a: true,
            says: SOURCE,
        },
        Case {
            name: "the filter for answers is deleted",
            source: "--no-tcx",
            sink: "",
            harm: |lab| {
                lab.a.sh("tc filter del dev a0 ingress");
            },
            on_a: true,
            says: SOURCE,
        },
        Case {
            name: "the clsact qdisc is deleted",
            source: "--no-tcx",
            sink: "",
            harm: |lab| {
                lab.a.sh("tc qdisc del dev a0 clsact");
            },
            on_a: true,
            says: SOURCE,
        },
    ];
    for case in cases {
        let name = case.name;
        let lab = Lab::new();
        let daemons = measure(&lab, case.source, case.sink);
        await_measured(&lab, name);
        let (host, other, daemon) = if case.on_a {
            (&lab.a, &lab.b, &daemons[0])
        } else {
            (&lab.b, &lab.a, &daemons[1])
        };
        for times in 1..=2 {
            (case.harm)(&lab);
            await_that_or(
                || daemon.stderr().matches(case.says).count() == times,
                || format!("{name}, {times}: {}", daemon.stderr()),
            );
            await_that(&format!("{name}, {times}: it is counted"), || {
                host.daemon_count("repaired") == times as u64
            });
            await_measured(&lab, name);
        }
        assert_eq!(
            other.daemon_count("repaired"),
            0,
            "{name}: nothing happened on the other side"
        );
        assert_all_detaches(&lab, name, daemons);
    }
}

#[test]
fn programs_follow_an_interface_to_its_new_name() {
    for (source, sink) in [("", ""), ("--no-tcx", "--hook tc")] {
        let name = format!("source {source}, sink {sink}");
        let lab = Lab::new();
        let daemons = measure(&lab, source, sink);
        await_measured(&lab, &name);
        for (host, dev, new, route) in [
            (&lab.a, "a0", "front.9", "10.9.1.2"),
            (&lab.b, "b0", "back", "10.9.2.2"),
        ] {
            host.sh(&format!(
                "ip link set {dev} down; ip link set {dev} name {new}; ip link set {new} up
                 ip route add default via {route}"
            ));
        }
        await_said(&daemons[0], &name, "a0 is called front.9 now");
        await_said(&daemons[1], &name, "b0 is called back now");
        await_measured(&lab, &name);
        let [a, b] = [lab.a.status(), lab.b.status()];
        assert_eq!(
            a["source"]["attachments"][0]["dev"], "front.9",
            "{name}: {a}"
        );
        assert_eq!(a["sink"]["attachments"][0]["dev"], "front.9", "{name}: {a}");
        assert_eq!(b["sink"]["attachments"][0]["dev"], "back", "{name}: {b}");
        assert!(lab.b.hostint("status").contains(" back "), "{name}");
        assert_eq!(
            (
                lab.a.daemon_count("repaired"),
                lab.b.daemon_count("repaired")
            ),
            (0, 0),
            "{name}"
        );
        assert_all_detaches(&lab, &name, daemons);
    }
}

#[test]
fn programs_come_back_with_their_interface() {
    for (source, sink) in [
        ("", ""),
        ("--no-tcx", "--hook tc"),
        ("--superpackets stage", ""),
        ("--superpackets no-gso", ""),
    ] {
        let name = format!("source {source}, sink {sink}");
        let lab = Lab::new();
        let daemons = measure(&lab, source, sink);
        await_measured(&lab, &name);
        lab.a.sh("ip link del a0");
        lab.b.sh("ip link del b0");
        await_said(
            &daemons[0],
            &name,
            "a0 is gone: the sink waits for it to come back",
        );
        await_said(
            &daemons[0],
            &name,
            "a0 is gone: the source waits for it to come back",
        );
        await_said(
            &daemons[1],
            &name,
            "b0 is gone: the sink waits for it to come back",
        );
        let (a, m, b) = (&lab.a.ns, &lab.m.ns, &lab.b.ns);
        sh(&format!(
            "ip link add a0 netns {a} type veth peer name m0 netns {m}
             ip link add b0 netns {b} type veth peer name m1 netns {m}
             ip -n {a} addr add 10.9.1.1/24 dev a0; ip -n {m} addr add 10.9.1.2/24 dev m0
             ip -n {b} addr add 10.9.2.1/24 dev b0; ip -n {m} addr add 10.9.2.2/24 dev m1
             ip -n {a} link set a0 up; ip -n {m} link set m0 up
             ip -n {m} link set m1 up; ip -n {b} link set b0 up
             ip -n {a} route add default via 10.9.1.2; ip -n {b} route add default via 10.9.2.2"
        ));
        await_said(
            &daemons[0],
            &name,
            "the sink was no longer attached to a0: attached again",
        );
        await_said(
            &daemons[0],
            &name,
            "the source was no longer attached to a0: attached again",
        );
        await_said(
            &daemons[1],
            &name,
            "the sink was no longer attached to b0: attached again",
        );
        await_that(&format!("{name}: it is counted"), || {
            (
                lab.a.daemon_count("repaired"),
                lab.b.daemon_count("repaired"),
            ) == (2, 1)
        });
        await_measured(&lab, &name);
        let attachments = &lab.a.status()["source"]["attachments"];
        assert_eq!(
            attachments.as_array().unwrap().len(),
            1,
            "{name}: {attachments}"
        );
        assert_all_detaches(&lab, &name, daemons);
    }
}

#[test]
fn a_changed_mtu_is_followed_and_repairs_nothing() {
    for (source, sink) in [("", ""), ("--no-tcx", "--hook tc")] {
        let name = format!("source {source}, sink {sink}");
        let lab = Lab::new();
        let daemons = measure(&lab, source, sink);
        await_measured(&lab, &name);
        for (mtu, too_long) in [(1400, true), (3000, false)] {
            for (host, dev) in [
                (&lab.a, "a0"),
                (&lab.m, "m0"),
                (&lab.m, "m1"),
                (&lab.b, "b0"),
            ] {
                host.sh(&format!("ip link set {dev} mtu {mtu}"));
            }
            await_measured(&lab, &name);
            let before = lab.a.count("source", "too_long");
            let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
            from.send_to(&[7; 1400 - 28 - 20], "10.9.2.1:6000").unwrap();
            assert_eq!(to.recv(&mut [0; 2000]).unwrap(), 1400 - 28 - 20, "{name}");
            assert_eq!(
                lab.a.count("source", "too_long") > before,
                too_long,
                "{name}: with an MTU of {mtu}"
            );
        }
        assert_eq!(
            (
                lab.a.daemon_count("repaired"),
                lab.b.daemon_count("repaired")
            ),
            (0, 0),
            "{name}"
        );
        assert_all_detaches(&lab, &name, daemons);
    }
}
