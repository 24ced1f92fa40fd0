//! A config file that is read again is applied whole or not at all, while traffic goes on.

use std::fs;
use std::time::Duration;

use hostint::datapath::kernel::links::Hook;
use hostint_testing::netns::{Daemon, Host, Lab, await_that};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::config_file::Config;
use crate::exchange::exchange_udp;
use crate::foreign::Foreign;
use crate::stamped::Stamped;

fn sink(host: &Host, config: &Config) -> Daemon {
    host.start(&format!("sink --config {}", config.path()), "sink attached")
}

/// The devices that a role is attached to.
fn attached(host: &Host, role: &str) -> Vec<String> {
    let status = host.status();
    let all = status[role]["attachments"].as_array().unwrap();
    all.iter()
        .map(|one| {
            format!(
                "{} {}",
                one["dev"].as_str().unwrap(),
                one["hook"].as_str().unwrap()
            )
        })
        .collect()
}

fn await_more(host: &Host, role: &str, name: &str, why: &str) {
    let before = host.count(role, name);
    await_that(&format!("{why}: {role} {name} grows"), || {
        host.count(role, name) > before + 20
    });
}

const A: &str = "[sink]
dev = \"a0\"
node-id = 1
[source]
dev = \"a0\"
encap = \"over-tcp-udp\"
";
const WATCH: &str = "[[watch]]
class = \"storage\"
to = \"10.9.2.1\"
protocol = \"udp\"
to-port = [5999, \"6000-6009\"]
static = true
";
const B: &str = "[sink]
dev = \"b0\"
node-id = 2
allow = \"10.9.1.0/24\"
collector = \"127.0.0.1:7001\"
report-period = \"20ms\"
";

#[test]
fn node_id_collectors_and_watchlist_change_while_traffic_goes_on() {
    let lab = Lab::new();
    let at_xdp = format!("{B}hook = \"xdp\"\n");
    let (on_a, on_b) = (Config::new(&lab.a, A), Config::new(&lab.b, &at_xdp));
    let first = lab
        .b
        .start("collect --json --listen 127.0.0.1:7001", "collecting");
    let second = lab
        .b
        .start("collect --json --listen 127.0.0.1:7002", "collecting");
    let (a, b) = (sink(&lab.a, &on_a), sink(&lab.b, &on_b));
    lab.a
        .hostint(&format!("source attach --config {}", on_a.path()));
    let traffic = Stamped::start(&lab, 6000);
    await_more(&lab.a, "source", "unwatched", "no rule yet");

    let said = on_a.applies(&a, &format!("{A}{WATCH}"));
    assert!(said.contains("applied: [[watch]] 1 rule\n"), "{said}");
    await_more(&lab.b, "sink", "received", "a rule more");
    let rules: Value = serde_json::from_str(&lab.a.hostint("source rules --json")).unwrap();
    assert_eq!(rules["rules"][0]["class"], "storage", "{rules}");
    assert_eq!(rules["rules"][0]["from_file"], true, "{rules}");
    let node = |collector: &Daemon| -> Vec<(u64, u64)> {
        let lines = collector.stdout();
        let lines = lines
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines
            .map(|line| {
                let number = |key: &str| line[key].as_u64().unwrap_or_default();
                (number("reporter_node"), number("report_seq"))
            })
            .collect()
    };
    await_that("the first collector gets reports", || {
        !node(&first).is_empty()
    });

    let text = at_xdp.replace("node-id = 2", "node-id = 22").replace(
        "\"127.0.0.1:7001\"",
        "[\"127.0.0.1:7001\", \"127.0.0.1:7002\"]",
    );
    let said = on_b.applies(&b, &text);
    assert!(
        said.contains("applied: [sink] collector, node-id\n"),
        "{said}"
    );
    assert_eq!(lab.b.status()["node_id"], 22);
    await_that("the second collector gets reports of node 22", || {
        node(&second).iter().any(|(node, _)| *node == 22)
    });
    assert_eq!(node(&second)[0], (22, 1), "its numbers begin");
    await_that("the first one too", || {
        node(&first).iter().any(|(node, _)| *node == 22)
    });
    let numbers: Vec<u64> = node(&first).into_iter().map(|(_, number)| number).collect();
    let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(
        numbers, expected,
        "the numbers of the collector that stays go on"
    );

    let before = lab.b.status();
    for (broken, says) in [
        (
            "[sink]\nnode-id = \n",
            ":2:10: string values must be quoted",
        ),
        (
            "[sink]\nnode-id = 7\nstrikt = true\n",
            ":3: [sink] strikt: unknown key (did you mean strict?)",
        ),
        ("", "no interface given"),
        (
            "[sink]\ndev = \"b0\"\nnode-id = 7\ncollector = \"nosuch.invalid\"\n",
            "cannot find collector nosuch.invalid",
        ),
        (
            "[sink]\ndev = [\"b0\", \"nosuch\"]\nnode-id = 7\n",
            "cannot use interface nosuch",
        ),
        (
            "[sink]\ndev = \"b0\"\nnode-id = 7\nreport-log = \"/nonexistent/log\"\n",
            "cannot open report log /nonexistent/log",
        ),
        (
            "[sink]\ndev = \"b0\"\nnode-id = 7\nmax-flows = 7\n",
            ":4: [sink] max-flows: the flow table has room for 65536 flows",
        ),
        (
            "[sink]\ndev = \"b0\"\nnode-id = 7\nxdp-mode = \"generic\"\n",
            ":4: [sink] xdp-mode: b0 is attached in the other XDP mode",
        ),
        (
            "[sink]\ndev = \"b0\"\nnode-id = 7\ncontrol = \"/run/x.sock\"\n",
            ":4: [sink] control: the socket is bound when the sink starts",
        ),
    ] {
        let said = on_b.refuses(&b, broken);
        assert!(said.contains(says), "{broken}: {said}");
        let now = lab.b.status();
        assert_eq!(now["node_id"], 22, "{broken}");
        for part in ["settings", "attachments"] {
            assert_eq!(now["sink"][part], before["sink"][part], "{broken}");
        }
    }
    fs::remove_file(on_b.path()).unwrap();
    b.signal(Signal::SIGHUP);
    await_that("a file that is gone is said", || {
        b.stderr()
            .contains(&format!("cannot read config {}: No such file", on_b.path()))
    });
    await_more(&lab.b, "sink", "received", "after all refusals");

    on_a.applies(&a, A);
    await_more(&lab.a, "source", "unwatched", "the rule is gone");
    traffic.assert_untouched("reloads");
    assert_eq!(lab.b.status()["sink"]["flows"][0]["lost"], 0);
}

#[test]
fn the_format_of_reports_changes_with_the_file() {
    let lab = Lab::new();
    let _a = lab.a.sink("--dev a0 --node-id 1");
    let config = Config::new(&lab.b, B);
    let daemon = sink(&lab.b, &config);
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    let collector = lab.b.udp("127.0.0.1:7001");
    collector
        .set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    let mut numbers = Vec::new();
    for (format, version) in [("v0.5", 0), ("v1.0", 1), ("v2.0", 2), ("v0.5", 0)] {
        if !numbers.is_empty() {
            config.applies(&daemon, &format!("{B}report-format = \"{format}\"\n"));
        }
        let mut buffer = [0; 2000];
        await_that("a report of that version comes", || {
            exchange_udp(&from, &to, 10, 100);
            let Ok(length) = collector.recv(&mut buffer) else {
                return false;
            };
            let group = hostint::collector::decode(&buffer[..length]).unwrap();
            let known = numbers.last().map_or(0, |(_, number)| *number);
            if buffer[0] >> 4 == version && (version != 0 || group.sequence > known) {
                numbers.push((version, group.sequence));
            }
            numbers.last().is_some_and(|(last, _)| *last == version)
        });
    }
    let [first, v10, v20, again] = numbers[..] else {
        panic!("{numbers:?}");
    };
    assert_eq!((first.1, v10.1, v20.1), (1, 1, 1), "numbers of their own");
    assert!(again.1 > 1, "v0.5 goes on: {}", again.1);
}

#[test]
fn the_items_of_transit_hops_change_and_stay_as_they_were_if_they_cannot() {
    let lab = Lab::new();
    let text = |items: &str| format!("{A}max-hops = 4\n{items}");
    let config = Config::new(&lab.a, &text(""));
    let daemon = sink(&lab.a, &config);
    lab.a
        .hostint(&format!("source attach --config {}", config.path()));
    let told = || lab.a.status()["source"]["attachments"][0]["path_items"].clone();
    let usual = json!(["latency", "queue"]);
    assert_eq!(told(), usual);
    let said = config.applies(&daemon, &text("path-items = \"latency\"\n"));
    assert!(said.contains("applied: [source] path-items\n"), "{said}");
    assert_eq!(told(), json!(["latency"]));
    config.refuses(&daemon, &text("path-items = \"queue\"\n"));
    assert_eq!(told(), json!(["latency"]));
    config.applies(&daemon, &text(""));
    assert_eq!(told(), usual);
}

#[test]
fn every_setting_of_the_sink_is_live() {
    let lab = Lab::new();
    let config = Config::new(&lab.b, B);
    let daemon = sink(&lab.b, &config);
    let before = lab.b.status()["sink"]["settings"].clone();
    let key = std::env::temp_dir().join(format!("{}.key", lab.b.ns));
    fs::write(&key, "00112233445566778899aabbccddeeff\n").unwrap();
    lab.b.sh(&format!("chmod 600 {}", key.display()));
    let said = config.applies(
        &daemon,
        &format!(
            "[sink]
dev = \"b0\"
node-id = 2
encap = \"extension-udp\"
dscp-value = 2
dscp-mask = 3
extension-port = 4444
report-period = \"3s\"
loss-timeout = \"300ms\"
idle-flow-timeout = \"3m\"
latency-buckets = [\"1ms\", \"2ms\"]
bucket-hold = \"1s\"
collector = \"127.0.0.1:7002\"
report-to-sender = 7003
report-format = \"v2.0\"
drop-tagged = true
allow = [\"10.1.0.0/16\", \"10.2.0.0/16\"]
strict = true
lease-key = \"{}\"
max-new-flows = 5
max-reports = 6
summary-period = \"1m\"
",
            key.display()
        ),
    );
    assert!(
        said.contains(
            "applied: [sink] allow, bucket-hold, collector, drop-tagged, dscp-mask, dscp-value, encap, \
             extension-port, idle-flow-timeout, latency-buckets, lease-key, loss-timeout, max-new-flows, \
             max-reports, report-format, report-period, report-to-sender, strict, \
             summary-period\n"
        ),
        "{said}"
    );
    assert!(
        said.contains("senders of packets get reports as v0.5"),
        "{said}"
    );
    let settings = lab.b.status()["sink"]["settings"].clone();
    for (name, expected) in [
        ("encapsulations", json!(["extension-udp"])),
        ("dscp_value", json!(2)),
        ("dscp_mask", json!(3)),
        ("extension_port", json!(4444)),
        ("report_period_ns", json!(3_000_000_000_u64)),
        ("loss_timeout_ns", json!(300_000_000)),
        ("bucket_hold_ns", json!(1_000_000_000)),
        ("drop_tagged", json!(true)),
        ("report_ports", json!([7002, 7003, 32766])),
        ("allow", json!(["10.1.0.0/16", "10.2.0.0/16"])),
        ("strict", json!(true)),
        ("lease_key", json!(true)),
    ] {
        assert_eq!(settings[name], expected, "{name}");
        assert_ne!(before[name], expected, "{name}");
    }
    assert_eq!(settings["buckets"].as_array().unwrap().len(), 2);
    // The key is read anew even if its path is the same.
    fs::write(&key, "wrong").unwrap();
    let text = fs::read_to_string(config.path()).unwrap();
    let said = config.refuses(&daemon, &text);
    assert!(
        said.contains(":19: [sink] lease-key: cannot use lease key"),
        "{said}"
    );
    fs::remove_file(&key).unwrap();
    config.applies(&daemon, B);
    assert_eq!(lab.b.status()["sink"]["settings"], before, "there and back");
    let said = config.reload(&daemon, B, "read again");
    assert!(
        said.contains("read again: nothing changed in it\n"),
        "{said}"
    );
}

#[test]
fn interfaces_come_go_and_change_their_hook() {
    let lab = Lab::new();
    lab.b
        .sh("ip link add x0 type veth peer name x1; ip link set x0 up; ip link set x1 up");
    let xdp = format!("{B}hook = \"xdp\"\n");
    let config = Config::new(&lab.b, &xdp);
    let mut daemon = sink(&lab.b, &config);
    assert_eq!(attached(&lab.b, "sink"), ["b0 xdp"]);
    config.applies(&daemon, &xdp.replace("\"b0\"", "[\"b0\", \"x0\"]"));
    assert_eq!(attached(&lab.b, "sink"), ["b0 xdp", "x0 xdp"]);
    let both_tc = B.replace("\"b0\"", "[\"b0\", \"x0\"]\nhook = \"tc\"");
    config.applies(&daemon, &both_tc);
    assert_eq!(attached(&lab.b, "sink"), ["b0 tc", "x0 tc"]);
    let said = config.refuses(
        &daemon,
        &both_tc.replace("\"x0\"]", "\"x0\", \"x1\"]\nencap = \"vxlan\""),
    );
    assert!(said.contains("unknown encapsulation \"vxlan\""), "{said}");
    assert_eq!(attached(&lab.b, "sink"), ["b0 tc", "x0 tc"]);
    config.applies(&daemon, &B.replace("\"b0\"", "[\"b0\", \"x0\"]"));
    assert_eq!(
        attached(&lab.b, "sink"),
        ["b0 tc", "x0 tc"],
        "auto changes none"
    );
    config.applies(&daemon, &xdp.replace("\"b0\"", "\"x0\""));
    await_that("b0 is left, after sources had time to stop", || {
        attached(&lab.b, "sink") == ["x0 xdp"]
    });
    assert!(!daemon.has_ended(), "{}", daemon.stderr());
    config.applies(&daemon, B);
    await_that("and back", || attached(&lab.b, "sink") == ["b0 tc"]);
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
}

#[test]
fn a_failure_half_way_leaves_everything_as_it_was() {
    let lab = Lab::new();
    lab.b
        .sh("ip link add x0 type veth peer name x1; ip link set x0 up mtu 9000; ip link set x1 up");
    let xdp = format!("{B}hook = \"xdp\"\n");
    let config = Config::new(&lab.b, &xdp);
    let daemon = sink(&lab.b, &config);
    let before = lab.b.status()["sink"].clone();
    // Something of somebody else's holds the second hook: the first one is attached, and given back.
    lab.b
        .sh("ip link add y0 type veth peer name y1; ip link set y0 up; ip link set y1 up");
    let foreign = Foreign::xdp("foreign");
    let _held = foreign.link(&lab.b, "y0", Hook::XdpNative);
    let text = xdp
        .replace("\"b0\"", "[\"b0\", \"x0\", \"y0\"]")
        .replace("node-id = 2", "node-id = 9");
    let said = config.refuses(&daemon, &text);
    assert!(said.contains("cannot attach the sink to y0"), "{said}");
    let now = lab.b.status();
    assert_eq!(now["node_id"], 2);
    assert_eq!(now["sink"]["attachments"], before["attachments"]);
    assert_eq!(now["sink"]["settings"], before["settings"]);
    assert!(!lab.b.sh("ip -d link show x0").contains("prog/xdp"));
}

#[test]
fn the_sinks_daemon_reloads_its_hosts_source_too() {
    let lab = Lab::new();
    let text = format!("{A}{WATCH}");
    let (on_a, on_b) = (Config::new(&lab.a, &text), Config::new(&lab.b, B));
    let (a, _b) = (sink(&lab.a, &on_a), sink(&lab.b, &on_b));
    // Without --config: the daemon sees that a source came, and gives it the rules.
    let attach = "source attach --dev a0 --encap over-tcp-udp";
    lab.a.hostint(attach);
    let traffic = Stamped::start(&lab, 6000);
    await_more(&lab.b, "sink", "received", "rules of the daemon's file");
    lab.a.hostint("source detach");
    lab.a.hostint(attach);
    await_more(
        &lab.b,
        "sink",
        "received",
        "rules of the daemon's file, once more",
    );
    let encapsulation = || lab.a.status()["source"]["attachments"][0]["encapsulation"].clone();
    assert_eq!(encapsulation(), "over-tcp-udp dscp 0x01/0x01");
    let other = text.replace(
        "\"over-tcp-udp\"",
        "\"extension-udp\"\nextension-port = 33122",
    );
    let said = on_a.applies(&a, &other);
    assert!(
        said.contains("applied: [source] encap, extension-port\n"),
        "{said}"
    );
    assert_eq!(encapsulation(), "extension-udp port 33122");
    await_more(&lab.b, "sink", "received", "another encapsulation");
    for (change, says) in [
        (
            "max-flows = 7",
            ": [source] max-flows: the flow table has room for 65536 flows",
        ),
        (
            "hook = \"tc-ingress\"\nsuperpackets = \"skip\"",
            ": [source] hook: the source is attached to a0 at hook tc,",
        ),
        ("mtu = 105", ": [source] mtu: an MTU of 105 leaves no room"),
        (
            "node-id = 5",
            ": [source] node-id: 5 differs from the sink's node id 1",
        ),
    ] {
        let said = on_a.refuses(
            &a,
            &text.replace("[source]", &format!("[source]\n{change}")),
        );
        assert!(said.contains(says), "{change}: {said}");
        assert_eq!(encapsulation(), "extension-udp port 33122", "{change}");
    }
    on_a.applies(&a, &text);
    assert_eq!(encapsulation(), "over-tcp-udp dscp 0x01/0x01");
    await_more(&lab.b, "sink", "received", "and back");
    traffic.assert_untouched("another encapsulation");
    assert_eq!(lab.b.status()["sink"]["flows"][0]["lost"], 0);
}

#[test]
fn a_source_in_the_foreground_reloads_by_itself() {
    let lab = Lab::new();
    let text = format!("{A}force = true\n{WATCH}").replace("[source]", "[source]\nnode-id = 1");
    let (on_a, on_b) = (Config::new(&lab.a, &text), Config::new(&lab.b, B));
    let _b = sink(&lab.b, &on_b);
    let source = lab.a.start(
        &format!("source attach --foreground --config {}", on_a.path()),
        "source attached",
    );
    let traffic = Stamped::start(&lab, 6000);
    await_more(&lab.b, "sink", "received", "rules of the file");
    let other = text
        .replace("node-id = 1", "node-id = 11")
        .replace("\"over-tcp-udp\"", "\"extension-udp\"");
    let said = on_a.applies(&source, &other);
    assert!(
        said.contains("applied: [source] encap, node-id\n"),
        "{said}"
    );
    assert_eq!(lab.a.status()["node_id"], 11);
    await_more(&lab.b, "sink", "received", "another encapsulation");
    let flows = lab.b.status()["sink"]["flows"].clone();
    assert_eq!(flows[0]["source_node"], 11, "{flows}");
    let said = on_a.refuses(
        &source,
        &other.replace("node-id = 11", "node-id = 12\nmax-flows = 5"),
    );
    assert!(
        said.contains(": [source] max-flows: the flow table has room for 65536 flows"),
        "{said}"
    );
    assert_eq!(lab.a.status()["node_id"], 11);
    let said = on_a.refuses(&source, "[source]\ndev = \"a0\"\ndcsp-mask = 1\n");
    assert!(
        said.contains(":3: [source] dcsp-mask: unknown key (did you mean dscp-mask?)"),
        "{said}"
    );
    let dests = std::env::temp_dir().join(format!("{}.dests", lab.a.ns));
    fs::write(&dests, "10.8.8.8 # not a rule\n").unwrap();
    let (without, _) = other.split_once("[[watch]]").unwrap();
    let listed = || lab.a.hostint("source dests");
    on_a.applies(
        &source,
        &format!("{without}dest-file = \"{}\"\n", dests.display()),
    );
    assert!(listed().contains("10.8.8.8"), "{}", listed());
    fs::remove_file(&dests).unwrap();
    on_a.applies(&source, without);
    assert!(!listed().contains("10.8.8.8"), "{}", listed());
    await_more(&lab.a, "source", "unwatched", "the rule is gone");
    traffic.assert_untouched("a source that reloads");
}

#[test]
fn without_a_config_file_a_hangup_ends_the_daemon() {
    let lab = Lab::new();
    let mut sink = lab.a.sink("--dev a0 --node-id 1");
    sink.signal(Signal::SIGHUP);
    assert_eq!(sink.wait(), Some(0), "{}", sink.stderr());
}
