//! `hostint doctor` finds what was prepared on a host.

use hostint::datapath::kernel::links::Hook;
use hostint_testing::netns::{Host, Lab, pins_below};
use hostint_testing::places;
use serde_json::Value;

use super::lease_refusals::Folder;
use crate::foreign::{Foreign, TC_NEXT};

/// A finding: verdict, what was found, what to do.
type Found = (String, String, String);

/// The findings of a check, of an interface or of the host.
fn findings(preflight: &Value, check: &str, dev: Option<&str>) -> Vec<Found> {
    let all = preflight["findings"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    all.iter()
        .filter(|one| one["check"] == check && one["dev"].as_str() == dev)
        .map(|one| {
            (
                text(&one["verdict"]),
                text(&one["found"]),
                text(&one["advice"]),
            )
        })
        .collect()
}

fn preflight(host: &Host, flags: &str) -> (Option<i32>, Value) {
    let output = host.try_hostint(&format!("doctor --json {flags}"));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["schema"], "hostint.doctor/1");
    assert_eq!(json["ready"], output.status.code() == Some(0));
    (output.status.code(), json)
}

fn assert_found(preflight: &Value, check: &str, dev: Option<&str>, expected: &[(&str, &str)]) {
    let found = findings(preflight, check, dev);
    assert_eq!(found.len(), expected.len(), "{check}: {found:#?}");
    for ((verdict, text, advice), (wanted, words)) in found.iter().zip(expected) {
        assert_eq!(verdict, wanted, "{check}: {text}");
        assert!(text.contains(words), "{check}: {text}");
        assert_eq!(verdict == "ok", advice.is_empty(), "{check}: {text}");
    }
}

#[test]
fn a_host_that_has_all_is_ready_and_nothing_is_changed() {
    let lab = Lab::new();
    let (code, found) = preflight(&lab.b, "--dev b0 --collector 10.9.1.1");
    assert_eq!(code, Some(0), "{found:#}");
    for check in ["kernel", "capabilities", "programs", "collector"] {
        assert_eq!(findings(&found, check, None)[0].0, "ok", "{check}");
    }
    assert!(findings(&found, "bpffs", None)[0].1.contains("/sys/fs/bpf"));
    assert_found(
        &found,
        "firewall",
        None,
        &[("ok", "nftables drops nothing")],
    );
    let dev = Some("b0");
    assert_found(&found, "interface", dev, &[("ok", "driver veth, up")]);
    assert_found(&found, "xdp", dev, &[("ok", "native")]);
    let chosen = "the sink takes tc: b0 is a software interface (veth)";
    assert_found(&found, "sink-hook", dev, &[("ok", chosen)]);
    assert_found(&found, "checksum", dev, &[("ok", "any protocol")]);
    assert_found(&found, "mtu", dev, &[("ok", "1500, of which INT takes 36")]);
    assert_found(
        &found,
        "head-room",
        dev,
        &[("ok", "UDP packets have 2 bytes")],
    );
    assert_found(&found, "hooks", dev, &[("ok", "free (XDP, tcx, clsact)")]);
    assert!(pins_below(&lab.b.pins()).is_empty());
    assert!(!lab.b.sh("ip link show b0").contains("xdp"));
}

#[test]
fn the_room_in_front_of_udp_packets_is_what_the_link_asks_for() {
    let lab = Lab::new();
    let said = |words: &str| {
        let (_, found) = preflight(&lab.b, "--dev b0");
        assert_found(&found, "head-room", Some("b0"), &[("ok", words)]);
    };
    said("2 bytes free in front of them");
    // What a bridge's ports need, the other end of the veth asks for.
    lab.m.sh(
        "ip link add vx0 type vxlan id 7 dstport 4789 local 10.9.1.2 remote 10.9.1.1 dev m0
         ip link add br0 type bridge; ip link set vx0 master br0; ip link set m1 master br0",
    );
    let (_, found) = preflight(&lab.b, "--dev b0");
    let found = findings(&found, "head-room", Some("b0")).remove(0).1;
    let bytes = found.split(' ').find_map(|word| word.parse::<u32>().ok());
    assert!(bytes.is_some_and(|bytes| bytes > 2), "{found}");
}

#[test]
fn what_is_missing_fails_and_says_what_to_do() {
    let lab = Lab::new();
    let host = &lab.b;
    host.sh("ip route del default; ip link add dull0 type veth peer name dull1; ip tuntap add tun0 mode tun");
    let (code, found) = preflight(
        host,
        "--dev nix0 --dev dull0 --dev tun0 --dev b0 --collector 192.0.2.1",
    );
    assert_eq!(code, Some(1));
    assert_eq!(found["failures"], 3, "{found:#}");
    assert_found(
        &found,
        "collector",
        None,
        &[("fail", "192.0.2.1:32766: no route")],
    );
    for (dev, verdict, words) in [
        ("nix0", "fail", "no such interface"),
        ("dull0", "note", "driver veth, down"),
        ("tun0", "fail", "no Ethernet header"),
        ("b0", "ok", "up"),
    ] {
        assert_found(&found, "interface", Some(dev), &[(verdict, words)]);
    }
    host.sh("ip link set dull0 up");
    let (_, found) = preflight(host, "--dev dull0 --dev lo");
    assert_found(
        &found,
        "interface",
        Some("dull0"),
        &[("note", "but no link")],
    );
    assert_found(&found, "xdp", Some("lo"), &[("note", "no native XDP")]);
    let output = host.try_hostint("doctor --dev nix0");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("nix0:\nFAIL  interface     no such interface (see ip link)\n"),
        "{text}"
    );
    assert!(text.contains("NOT ready: 1 failure; "), "{text}");
}

#[test]
fn the_config_file_says_what_is_looked_at_and_flags_say_otherwise() {
    let lab = Lab::new();
    let folder = Folder::new(&lab);
    let [key, open] = [("key", 0o600), ("open", 0o644)]
        .map(|(name, mode)| folder.key(name, &"1".repeat(32), mode));
    let _socket = lab.b.udp("10.9.2.1:33999");
    let config = |name: &str, key: &str, more: &str| {
        let content = format!(
            "[sink]\ndev = \"b0\"\nnode-id = 2\ncollector = [\"10.9.1.1\", \"nosuch.invalid\"]\n\
             extension-port = 33999\nlease-key = \"{key}\"\n{more}[source]\ndev = [\"b0\", \"lo\"]\n"
        );
        folder.key(name, &content, 0o644)
    };
    let right = config("right.toml", &key, "");
    let (code, found) = preflight(&lab.b, &format!("--config {right}"));
    assert_eq!(code, Some(1), "a collector is not found: {found:#}");
    let summary = format!("{right}: sink on b0, source on b0 and lo");
    assert_found(&found, "config", None, &[("ok", &summary)]);
    assert_found(&found, "lease-key", None, &[("ok", &key)]);
    assert_found(&found, "ports", None, &[("note", "UDP port 33999")]);
    assert_found(
        &found,
        "collector",
        None,
        &[
            ("fail", "cannot find nosuch.invalid: "),
            ("ok", "10.9.1.1:32766: reachable"),
        ],
    );
    for dev in ["b0", "lo"] {
        assert_eq!(findings(&found, "interface", Some(dev)).len(), 1, "{dev}");
    }

    let flags = format!("--config {right} --dev lo --collector 10.9.1.1:5555");
    let (code, found) = preflight(&lab.b, &flags);
    assert_eq!(code, Some(0), "{found:#}");
    assert_found(&found, "collector", None, &[("ok", "10.9.1.1:5555")]);
    assert_found(&found, "interface", Some("b0"), &[]);

    let wrong = config("wrong.toml", &open, "dscp-mask = 0\n");
    let (code, found) = preflight(&lab.b, &format!("--config {wrong} --collector 10.9.1.1"));
    assert_eq!(code, Some(1));
    assert_found(&found, "lease-key", None, &[]);
    assert_found(
        &found,
        "config",
        None,
        &[
            ("fail", ":6: [sink] lease-key: cannot use lease key"),
            ("fail", ":7: [sink] dscp-mask: a DSCP mask of 0"),
        ],
    );
    assert_eq!(findings(&found, "interface", Some("b0"))[0].0, "ok");
    let (code, found) = preflight(&lab.b, "--config /nonexistent");
    assert_eq!(code, Some(1));
    assert_found(&found, "config", None, &[("fail", "cannot read config")]);
}

#[test]
fn programs_on_the_hooks_are_named_and_ours_are_known() {
    let lab = Lab::new();
    let xdp = Foreign::xdp("their_xdp");
    let tc = Foreign::tc("their_tc", TC_NEXT);
    xdp.xdp_without_link(&lab.b, "b0");
    let _link = tc.link(&lab.b, "b0", Hook::TcxEgress);
    tc.filter(&lab.b, "b0", true, 1);
    let (code, found) = preflight(&lab.b, "--dev b0");
    assert_eq!(code, Some(0), "the sink takes tc");
    assert_found(
        &found,
        "hooks",
        Some("b0"),
        &[
            ("note", "xdp: their_xdp (id "),
            ("note", "tcx egress: their_tc (id "),
            ("note", "clsact ingress: their_tc (id "),
        ],
    );
    for no_tcx in [true, false] {
        let lab = Lab::new();
        let _sink = lab.b.leasing_sink("--dev b0 --node-id 2 --hook xdp");
        let (flag, hook) = match no_tcx {
            true => ("--no-tcx", "clsact"),
            false => ("", "tcx"),
        };
        lab.b.hostint(&format!("source attach --dev b0 {flag}"));
        let (_, found) = preflight(&lab.b, "--dev b0");
        assert_found(
            &found,
            "tagging",
            None,
            &[("fail", "no destination is watched")],
        );
        assert_found(
            &found,
            "hooks",
            Some("b0"),
            &[
                ("ok", "xdp: sink (id "),
                ("ok", &format!("{hook} ingress: source_peer (id ")),
                ("ok", &format!("{hook} egress: source_tc (id ")),
            ],
        );
    }
}

#[test]
fn a_firewall_is_told_of_by_hook() {
    let lab = Lab::new();
    lab.b.sh(
        "nft 'add table inet filter; add chain inet filter bad; add rule inet filter bad drop
              add chain inet filter in { type filter hook input priority 0; policy drop; }
              add rule inet filter in ip saddr 192.0.2.1 drop; add rule inet filter in jump bad
              add chain inet filter out { type filter hook output priority 0; }
              add rule inet filter out udp dport 32766 reject
              add chain inet filter fw { type filter hook forward priority 0; }'",
    );
    let (code, found) = preflight(&lab.b, "--collector 10.9.1.1:5555");
    assert_eq!(code, Some(0), "what rules do cannot be known");
    assert_found(
        &found,
        "firewall",
        None,
        &[
            ("note", "2 rules drop, and the policy on hook input"),
            ("note", "1 rule drops on hook output"),
        ],
    );
    let (_, _, advice) = &findings(&found, "firewall", None)[1];
    assert!(advice.contains("udp dport 5555, 32766"), "{advice}");
}

#[test]
fn sockets_and_pings_that_are_in_the_way_are_told() {
    let lab = Lab::new();
    let _socket = lab.b.udp("10.9.2.1:4790");
    lab.b.sh("sysctl -qw net.ipv4.icmp_echo_ignore_all=1");
    let (code, found) = preflight(&lab.b, "");
    assert_eq!(code, Some(1));
    assert_found(&found, "ports", None, &[("note", "UDP port 4790")]);
    assert_found(&found, "pings", None, &[("fail", "ignores pings")]);
}

#[test]
fn without_privileges_it_says_what_it_cannot_try() {
    let lab = Lab::new();
    let copy = std::env::temp_dir().join(format!("hostint-preflight-{}", std::process::id()));
    std::fs::copy(places::hostint(), &copy).unwrap();
    let line = format!("{} doctor --json --dev b0", copy.display());
    let ids = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let args: Vec<&str> = ids.into_iter().chain(line.split(' ')).collect();
    let output = lab.b.command("setpriv", &args).output().unwrap();
    std::fs::remove_file(&copy).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_found(
        &found,
        "capabilities",
        None,
        &[(
            "fail",
            "missing CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON, CAP_NET_RAW",
        )],
    );
    assert_found(&found, "kernel-part", None, &[("note", "not tried")]);
    assert_found(&found, "programs", None, &[]);
    assert_found(&found, "xdp", Some("b0"), &[("ok", "native")]);
}

#[test]
fn what_runs_and_does_not_work_is_told_worst_first_with_what_to_try() {
    let lab = Lab::new();
    let mut sink = lab
        .a
        .leasing_sink("--dev a0 --node-id 1 --collector 10.9.2.1");
    lab.a.hostint("source attach --dev a0");
    lab.a.hostint("source add-dest 10.9.2.1");
    let (_, found) = preflight(&lab.a, "--dev a0");
    assert_found(&found, "daemon", None, &[]);
    let told = &findings(&found, "tagging", None)[0];
    assert_eq!(
        (&*told.0, &*told.1),
        ("fail", "1 peer without a sink"),
        "{found:#}"
    );
    assert_found(&found, "peer", None, &[("note", "10.9.2.1 no sink")]);
    sink.end();
    let (code, found) = preflight(&lab.a, "--dev a0");
    assert_eq!(code, Some(1), "{found:#}");
    assert_found(&found, "daemon", None, &[("fail", "no daemon runs")]);
    let first = &found["findings"][0];
    assert_eq!(first["verdict"], "fail", "{found:#}");
}
