//! BPF programs of others on the same interfaces keep working before, under and after ours.

use hostint::datapath::kernel::links::Hook;
use hostint_testing::netns::{Host, Lab, await_that, with_form};

use crate::exchange::exchange_udp;
use crate::foreign::{Foreign, TC_NEXT, TC_OK, tcx_programs};

/// What an outsider sees of an interface.
fn seen(host: &Host, dev: &str) -> String {
    let tcx = tcx_programs(host, dev);
    let shown = host.sh(&format!(
        "ip -d link show dev {dev}; tc qdisc show dev {dev}
         tc filter show dev {dev} ingress; tc filter show dev {dev} egress"
    ));
    format!("{shown}tcx programs: {tcx:?}")
}

#[test]
fn an_xdp_program_that_is_there_is_named_and_left_alone() {
    for (name, by_link, mode) in [
        ("by a link", true, "auto"),
        ("as ip link does it", false, "auto"),
        ("by a link, generic wanted", true, "generic"),
        ("by a link, native wanted", true, "native"),
    ] {
        let lab = Lab::new();
        let theirs = Foreign::xdp("their_xdp");
        let _link = by_link.then(|| theirs.link(&lab.b, "b0", Hook::XdpNative));
        if !by_link {
            theirs.xdp_without_link(&lab.b, "b0");
        }
        let before = seen(&lab.b, "b0");
        let refused = lab.b.try_hostint(&format!(
            "sink --dev b0 --node-id 2 --hook xdp --xdp-mode {mode}"
        ));
        assert_eq!(refused.status.code(), Some(1), "{name}");
        let text = String::from_utf8(refused.stderr).unwrap();
        assert!(
            text.contains("cannot attach the sink to b0") && text.contains("XDP program their_xdp"),
            "{name}: {text}"
        );
        assert_eq!(seen(&lab.b, "b0"), before, "{name}");
        assert_eq!(lab.b.try_hostint("status").status.code(), Some(3), "{name}");
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        let packets = theirs.packets();
        exchange_udp(&from, &to, 20, 1000);
        assert!(theirs.packets() >= packets + 20, "{name}: theirs goes on");
    }
}

/// Programs of others on all hooks that hostint shares, first and last.
struct Others {
    programs: Vec<(&'static str, Foreign)>,
    _links: Vec<hostint::datapath::kernel::links::Link>,
}

impl Others {
    fn on(host: &Host, dev: &str) -> Self {
        let mut programs = Vec::new();
        let mut links = Vec::new();
        for (name, hook) in [
            ("tcx ingress", Hook::TcxIngress),
            ("tcx egress", Hook::TcxEgress),
        ] {
            let program = Foreign::tc("their_tcx", TC_NEXT);
            links.push(program.link(host, dev, hook));
            programs.push((name, program));
        }
        for (name, ingress, priority, verdict) in [
            ("first filter at ingress", true, 1, TC_NEXT),
            ("last filter at ingress", true, 65_000, TC_OK),
            ("first filter at egress", false, 1, TC_NEXT),
            ("last filter at egress", false, 65_000, TC_OK),
        ] {
            let program = Foreign::tc("their_filter", verdict);
            program.filter(host, dev, ingress, priority);
            programs.push((name, program));
        }
        Self {
            programs,
            _links: links,
        }
    }

    /// Packets that they saw while something was done.
    fn assert_see(&self, what: &str, least: u64, run: impl FnOnce()) {
        let before: Vec<u64> = self.programs.iter().map(|(_, one)| one.packets()).collect();
        run();
        for ((name, program), before) in self.programs.iter().zip(before) {
            let more = program.packets() - before;
            assert!(more >= least, "{what}: {name} saw {more} packets");
        }
    }
}

#[test]
fn tc_programs_of_others_go_on_before_under_and_after_ours() {
    for (source, sink) in [
        ("", "xdp"),
        ("", "tc"),
        ("--no-tcx", "xdp"),
        ("--no-tcx", "tc"),
        ("--superpackets stage", "tc"),
        ("--superpackets no-gso --no-tcx", "xdp"),
    ] {
        let what = format!("source {source}, sink {sink}");
        let lab = Lab::new();
        let others = [Others::on(&lab.a, "a0"), Others::on(&lab.b, "b0")];
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        let exchange = || {
            exchange_udp(&from, &to, 30, 1000);
            exchange_udp(&to, &from, 30, 1000);
        };
        let see = |when: &str| {
            for others in &others {
                others.assert_see(&format!("{what}, {when}"), 30, exchange);
            }
        };
        see("before");
        let before = [seen(&lab.a, "a0"), seen(&lab.b, "b0")];
        {
            let _a = lab.a.sink(&format!("--dev a0 --node-id 1 --hook {sink}"));
            let _b = lab.b.sink(&format!("--dev b0 --node-id 2 --hook {sink}"));
            let flags = with_form(source);
            lab.a.hostint(&format!("source attach --dev a0 {flags}"));
            lab.a.hostint("source add-dest --static 10.9.2.1");
            see("under ours");
            assert_eq!(lab.a.count("source", "tagged"), 60, "{what}");
            assert_eq!(lab.b.count("sink", "received"), 60, "{what}");
            lab.a.hostint("source detach");
            lab.a.hostint("sink detach");
            lab.b.hostint("sink detach");
        }
        let after = [seen(&lab.a, "a0"), seen(&lab.b, "b0")];
        assert_eq!(after, before, "{what}: as it was");
        see("after");
    }
}

#[test]
fn an_interface_of_ours_alone_is_left_as_it_was() {
    for flags in ["", "--no-tcx", "--superpackets stage --no-tcx"] {
        let lab = Lab::new();
        let before = seen(&lab.a, "a0");
        let links = lab.a.sh("ip -o link | wc -l");
        let sink = lab.a.sink("--dev a0 --node-id 1");
        lab.a.hostint(&format!("source attach --dev a0 {flags}"));
        assert_ne!(seen(&lab.a, "a0"), before, "{flags}");
        lab.a.hostint("source detach");
        lab.a.hostint("sink detach");
        assert_eq!(seen(&lab.a, "a0"), before, "{flags}");
        assert_eq!(lab.a.sh("ip -o link | wc -l"), links, "{flags}");
        drop(sink);
    }
}

#[test]
fn a_clsact_qdisc_that_others_use_meanwhile_stays() {
    let lab = Lab::new();
    let _a = lab.a.sink("--dev a0 --node-id 1");
    lab.a.hostint("source attach --dev a0 --no-tcx");
    let theirs = Foreign::tc("their_filter", TC_NEXT);
    theirs.filter(&lab.a, "a0", false, 1);
    lab.a.hostint("source detach");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    let before = theirs.packets();
    exchange_udp(&from, &to, 20, 1000);
    assert!(theirs.packets() >= before + 20, "their filter stays");
    await_that("ours is gone", || {
        !lab.a
            .sh("tc filter show dev a0 egress; tc filter show dev a0 ingress")
            .contains("source")
    });
}
