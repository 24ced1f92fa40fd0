//! Daemons start, stop, are killed, take over and detach: traffic goes on, and nothing stays behind.

use hostint_testing::netns::{Lab, await_that, pins_below, sh};
use hostint_testing::places;

use crate::exchange::{exchange_udp, flow};

#[test]
fn stripping_outlives_the_daemon_and_detach_leaves_nothing() {
    let lab = Lab::new();
    let [a_sink, mut b_sink] = lab.tag("");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    exchange_udp(&from, &to, 100, 1000);
    let pid = b_sink.pid();
    assert_eq!(lab.b.status()["sink"]["daemon_pid"], pid);
    b_sink.kill();
    assert!(
        lab.b.status()["sink"]["daemon_pid"].is_null(),
        "a killed daemon is not shown as running"
    );
    exchange_udp(&from, &to, 100, 1000);
    assert_eq!(
        lab.b.count("sink", "received"),
        200,
        "a killed daemon's program strips"
    );
    assert_eq!(lab.b.status()["sink"]["attachments"][0]["mode"], "tcx");

    let mut b_sink = lab.b.sink("--dev b0 --node-id 2");
    exchange_udp(&from, &to, 100, 1000);
    let status = lab.b.status();
    assert_eq!(lab.b.count("sink", "received"), 300, "counters go on");
    assert_eq!(
        flow(&status, "restart", 6000)["packets"],
        300,
        "flows go on"
    );
    assert_eq!(flow(&status, "restart", 6000)["lost"], 0);
    assert_eq!(b_sink.end(), Some(0));
    assert!(
        b_sink.stderr().contains("still stripped"),
        "{}",
        b_sink.stderr()
    );

    lab.a.hostint("source detach");
    exchange_udp(&from, &to, 10, 1000);
    drop(a_sink);
    lab.a.hostint("sink detach");
    lab.b.hostint("sink detach");
    exchange_udp(&from, &to, 10, 1000);
    for host in [&lab.a, &lab.b] {
        assert_eq!(
            host.try_hostint("status").status.code(),
            Some(3),
            "nothing runs"
        );
        let links = host.sh("ip -d link; tc qdisc; bpftool net 2>/dev/null || true");
        assert!(
            !links.contains("prog/xdp") && !links.contains("source_tc"),
            "{links}"
        );
    }
    assert_eq!(lab.a.try_hostint("source detach").status.code(), Some(3));
    assert_eq!(lab.b.try_hostint("sink detach").status.code(), Some(3));
}

#[test]
fn one_daemon_serves_a_host_and_ends_when_its_sink_is_detached() {
    let lab = Lab::new();
    let b = &lab.b.ns;
    sh(&format!(
        "ip -n {b} link add x0 type veth peer name x1; ip -n {b} link set x0 up"
    ));
    let mut first = lab.b.sink("--dev b0 --dev x0 --node-id 2");
    let second = lab.b.try_hostint("sink --dev x0 --node-id 2");
    assert_eq!(second.status.code(), Some(1));
    let text = String::from_utf8(second.stderr).unwrap();
    assert!(
        text.contains("another hostint sink serves this host"),
        "{text}"
    );
    assert_eq!(first.end(), Some(0));

    let mut again = lab
        .b
        .start("sink --dev b0 --node-id 2", "still attached to x0");
    lab.b.hostint("sink detach");
    assert_eq!(again.wait(), Some(0), "nothing is left to serve");
    assert!(
        again.stderr().contains("was detached"),
        "{}",
        again.stderr()
    );
}

#[test]
fn a_hook_that_is_taken_is_left_alone_and_nothing_stays_behind() {
    let lab = Lab::new();
    lab.a
        .hostint("source attach --dev a0 --hook xdp --force --node-id 1");
    let refused = lab.a.try_hostint("sink --dev a0 --node-id 1 --hook xdp");
    assert_eq!(refused.status.code(), Some(1));
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(
        text.contains("cannot attach the sink to a0") && text.contains("another program"),
        "{text}"
    );
    let status = lab.a.status();
    assert!(status["sink"].is_null(), "{status}");
    assert_eq!(
        status["source"]["attachments"][0]["hook"], "xdp",
        "the other program stays"
    );

    let mut sink = lab.b.sink("--dev b0 --node-id 2 --hook xdp");
    let refused = lab.b.try_hostint("source attach --dev b0 --hook xdp");
    assert_eq!(refused.status.code(), Some(1));
    assert!(lab.b.status()["source"].is_null());
    assert_eq!(lab.b.status()["sink"]["attachments"][0]["mode"], "native");
    assert_eq!(sink.end(), Some(0));
}

#[test]
fn the_xdp_mode_is_not_changed_under_running_traffic() {
    let lab = Lab::new();
    let mut sink = lab.b.sink("--dev b0 --node-id 2 --xdp-mode generic");
    assert_eq!(sink.end(), Some(0));
    let refused = lab
        .b
        .try_hostint("sink --dev b0 --node-id 2 --xdp-mode native");
    assert_eq!(refused.status.code(), Some(1));
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("other XDP mode"), "{text}");
    let _sink = lab.b.sink("--dev b0 --node-id 2");
    assert_eq!(
        lab.b.status()["sink"]["attachments"][0]["mode"],
        "generic",
        "auto takes over what is there"
    );
}

#[test]
fn a_daemon_waits_for_an_interface_that_is_gone_until_the_rest_is_detached() {
    let lab = Lab::new();
    let b = &lab.b.ns;
    sh(&format!(
        "ip -n {b} link add x0 type veth peer name x1; ip -n {b} link set x0 up"
    ));
    let mut sink = lab.b.sink("--dev x0 --node-id 2");
    lab.b.hostint("source attach --dev x1");
    sh(&format!("ip -n {b} link del x0"));
    await_that("the daemon says that it waits", || {
        let said = sink.stderr();
        said.contains("x0 is gone: the sink waits for it to come back")
            && said.contains("x1 is gone: the source waits for it to come back")
    });
    let status = lab.b.status();
    for role in ["sink", "source"] {
        assert_eq!(
            status[role]["attachments"].as_array().map(Vec::len),
            Some(0),
            "{status}"
        );
    }
    assert_eq!(
        lab.b.try_hostint("status").status.code(),
        Some(0),
        "it runs"
    );
    lab.b.hostint("sink detach");
    assert_eq!(sink.wait(), Some(0), "the daemon has nothing left to serve");
    assert!(sink.stderr().contains("was detached"), "{}", sink.stderr());
    assert_eq!(lab.b.try_hostint("status").status.code(), Some(3));
    lab.b.sink("--dev b0 --node-id 2");
    assert_eq!(lab.b.try_hostint("status").status.code(), Some(0));
}

#[test]
fn idle_flows_are_forgotten_at_source_and_sink_and_come_back_without_false_loss() {
    let lab = Lab::new();
    let _a = lab.a.sink("--dev a0 --node-id 1");
    let _b = lab.b.sink("--dev b0 --node-id 2 --idle-flow-timeout 1s");
    lab.a
        .hostint("source attach --dev a0 --encap over-tcp-udp --idle-flow-timeout 1s");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    exchange_udp(&from, &to, 20, 100);
    await_that("both tables are empty", || {
        lab.a.status()["source"]["flows_total"] == 0 && lab.b.status()["sink"]["flows_total"] == 0
    });
    exchange_udp(&from, &to, 20, 100);
    assert_eq!(lab.b.count("sink", "lost"), 0);
    assert_eq!(lab.b.count("sink", "duplicate"), 0);
    assert_eq!(lab.b.count("sink", "flow_new"), 2);
}

#[test]
fn several_interfaces_share_one_sink_and_a_private_bpffs_separates_hosts() {
    let lab = Lab::new();
    let (a, b) = (&lab.a.ns, &lab.b.ns);
    sh(&format!(
        "ip link add a1 netns {a} type veth peer name b1 netns {b}
         ip -n {a} addr add 10.9.3.1/24 dev a1; ip -n {a} link set a1 up
         ip -n {b} addr add 10.9.3.2/24 dev b1; ip -n {b} link set b1 up"
    ));
    let dir = std::env::temp_dir().join(format!("{b}-bpffs"));
    sh(&format!(
        "mkdir -p {d}; mount -t bpf bpf {d}",
        d = dir.display()
    ));
    let mut b_host = lab.b.clone();
    b_host.bpffs = Some(dir.clone());
    let _a = lab.a.sink("--dev a0 --dev a1 --node-id 1");
    let mut b_sink = b_host.sink("--dev b0 --dev b1 --node-id 2");
    lab.a
        .hostint("source attach --dev a0 --dev a1 --encap over-tcp-udp");
    lab.a.hostint("source add-dest --static 10.9.2.1 10.9.3.2");
    exchange_udp(
        &lab.a.udp("10.9.1.1:5000"),
        &lab.b.udp("10.9.2.1:6000"),
        30,
        1000,
    );
    exchange_udp(
        &lab.a.udp("10.9.3.1:5000"),
        &lab.b.udp("10.9.3.2:6000"),
        30,
        1000,
    );
    assert_eq!(b_host.count("sink", "received"), 60);
    assert_eq!(b_host.status()["sink"]["flows_total"], 2);
    assert!(!pins_below(&dir.join("hostint")).is_empty());
    assert_eq!(
        lab.b.try_hostint("status").status.code(),
        Some(3),
        "the system's own bpffs has no pins"
    );

    b_host.hostint("sink detach --dev b1");
    exchange_udp(
        &lab.a.udp("10.9.1.1:5000"),
        &lab.b.udp("10.9.2.1:6000"),
        10,
        1000,
    );
    assert_eq!(b_host.count("sink", "received"), 70, "b0 goes on");
    b_sink.end();
    b_host.hostint("sink detach");
    assert_eq!(
        pins_below(&dir.join("hostint")),
        Vec::<String>::new(),
        "detach removes every pin"
    );
    sh(&format!("umount {d}; rmdir {d}", d = dir.display()));
}

#[test]
fn a_source_needs_a_sink_on_its_host_and_has_its_node_id() {
    let lab = Lab::new();
    let output = lab.a.try_hostint("source attach --dev a0 --node-id 1");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("no sink runs on this host") && text.contains("--force"),
        "{text}"
    );
    lab.a.hostint("source attach --dev a0 --force --node-id 1");
    assert_eq!(lab.a.status()["node_id"], 1);
    lab.a.hostint("source detach");
    let _sink = lab.a.sink("--dev a0 --node-id 4");
    let output = lab.a.try_hostint("source attach --dev a0 --node-id 1");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    let why = "node id 1 differs from this host's, which is 4";
    assert!(text.contains(why), "{text}");
    assert_eq!(lab.a.status()["node_id"], 4, "the sink's stays");
    lab.a.hostint("source attach --dev a0 --node-id 4");
    assert!(std::path::Path::new(places::hostint()).exists());
}

#[test]
fn a_source_that_is_attached_in_another_way_is_attached_once() {
    let lab = Lab::new();
    for flags in ["", "--no-tcx", "", "--no-tcx"] {
        lab.a.hostint(&format!(
            "source attach --dev a0 --force --node-id 1 {flags}"
        ));
        let filters = lab
            .a
            .sh("tc filter show dev a0 egress; tc filter show dev a0 ingress")
            .matches("direct-action")
            .count();
        let links = pins_below(&lab.a.pins().join("links")).len();
        let expected = if flags.is_empty() { (0, 2) } else { (2, 0) };
        assert_eq!((filters, links), expected, "with {flags:?}");
    }
}
