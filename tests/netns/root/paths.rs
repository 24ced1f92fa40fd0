//! Sources prove the path before they tag, and use only the forms of packets that pass it.

use std::time::{Duration, Instant};

use hostint_testing::netns::{Daemon, Host, Lab, await_that_or};
use serde_json::{Value, json};

use crate::exchange::{exchange_tcp, exchange_udp, flow};

fn peer(host: &Host) -> Value {
    host.status()["source"]["peers"][0].clone()
}

/// A source on a that watches b, once it knows which forms pass the path; and the sinks of both.
fn watch(lab: &Lab, flags: &str) -> ([Daemon; 2], String) {
    let sinks = [
        lab.a.leasing_sink("--dev a0 --node-id 1"),
        lab.b.leasing_sink("--dev b0 --node-id 2 --int-dscp 0x17"),
    ];
    lab.a.hostint(&format!("source attach --dev a0 {flags}"));
    let added = lab.a.try_hostint("source add-dest 10.9.2.1");
    let said = String::from_utf8_lossy(&added.stderr).into_owned();
    await_that_or(
        || !peer(&lab.a)["proved_ago_ns"].is_null(),
        || format!("the path is proved: {}", peer(&lab.a)),
    );
    (sinks, said)
}

/// The encapsulation that packets of the flow to this port arrive in at b, and their number.
fn arrived(lab: &Lab, port: u16) -> (String, u64) {
    let found = flow(&lab.b.status(), "the flow arrives tagged", port);
    let encapsulation = found["encapsulation"].as_str().unwrap_or_default();
    (
        encapsulation.to_owned(),
        found["packets"].as_u64().unwrap_or_default(),
    )
}

fn exchange(lab: &Lab) {
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    exchange_udp(&from, &to, 200, 1300);
    exchange_tcp(&lab.a, &lab.b, 7000, 300_000);
}

#[test]
fn each_flow_takes_a_form_that_passes_the_path() {
    struct Case {
        name: &'static str,
        flags: &'static str,
        /// A rule of the router for packets that it forwards.
        rule: &'static str,
        ways: &'static [&'static str],
        eaten: &'static [&'static str],
        tos_changed: u8,
        said: &'static str,
        udp: Option<&'static str>,
        tcp: Option<&'static str>,
    }
    let gpe: &[&str] = &["tcp vxlan-gpe", "udp vxlan-gpe"];
    let extension: &[&str] = &["tcp extension-udp", "udp extension-udp"];
    let cases = [
        Case {
            name: "default settings",
            flags: "",
            rule: "",
            ways: &["tcp options", "udp options"],
            eaten: &[],
            tos_changed: 0,
            said: "(options)",
            udp: Some("options"),
            tcp: Some("options"),
        },
        Case {
            name: "tunnels",
            flags: "--encap tunnel",
            rule: "",
            ways: gpe,
            eaten: &[],
            tos_changed: 0,
            said: "(vxlan-gpe)",
            udp: Some("vxlan-gpe"),
            tcp: Some("vxlan-gpe"),
        },
        Case {
            name: "over-tcp-udp",
            flags: "--encap over-tcp-udp",
            rule: "",
            ways: &["tcp vxlan-gpe", "udp over-tcp-udp", "udp vxlan-gpe"],
            eaten: &[],
            tos_changed: 0,
            said: "(over-tcp-udp and vxlan-gpe)",
            udp: Some("over-tcp-udp"),
            tcp: Some("vxlan-gpe"),
        },
        Case {
            name: "a router that rewrites DSCP",
            flags: "--encap over-tcp-udp",
            rule: "ip dscp set cs0",
            ways: gpe,
            eaten: &["over-tcp-udp"],
            tos_changed: 0x04,
            said: "the path changes DSCP (ToS byte 0x04 -> 0x00)",
            udp: Some("vxlan-gpe"),
            tcp: Some("vxlan-gpe"),
        },
        Case {
            name: "int-md",
            flags: "--encap int-md --int-dscp 0x17",
            rule: "",
            ways: &["tcp vxlan-gpe", "udp vxlan-gpe", "udp int-md"],
            eaten: &[],
            tos_changed: 0,
            said: "(vxlan-gpe and int-md)",
            udp: Some("int-md"),
            tcp: Some("vxlan-gpe"),
        },
        Case {
            name: "int-md with a mark that the sink does not know",
            flags: "--encap int-md --int-dscp 0x18",
            rule: "",
            ways: gpe,
            eaten: &["int-md"],
            tos_changed: 0,
            said: "int-md does not arrive, or not on every path; vxlan-gpe is used",
            udp: Some("vxlan-gpe"),
            tcp: Some("vxlan-gpe"),
        },
        Case {
            name: "a router that drops UDP port 4790",
            flags: "--encap tunnel",
            rule: "udp dport 4790 drop",
            ways: extension,
            eaten: &["vxlan-gpe"],
            tos_changed: 0,
            said: "",
            udp: Some("extension-udp"),
            tcp: Some("extension-udp"),
        },
        Case {
            name: "a firewall that drops packets of unknown connections",
            flags: "--encap tunnel",
            rule: "ct state invalid drop",
            ways: &[],
            eaten: &["stray packets"],
            tos_changed: 0,
            said: "packets stay untagged",
            udp: None,
            tcp: None,
        },
    ];
    for Case {
        name,
        flags,
        rule,
        ways,
        eaten,
        tos_changed,
        said,
        udp,
        tcp,
    } in cases
    {
        let lab = Lab::new();
        if !rule.is_empty() {
            lab.m.sh(&format!(
                "sysctl -qw net.netfilter.nf_conntrack_tcp_loose=0 || true
                 nft add table ip path
                 nft 'add chain ip path forward {{ type filter hook forward priority -150; }}'
                 nft 'add rule ip path forward {rule}'"
            ));
        }
        let (_sinks, told) = watch(&lab, flags);
        await_that_or(
            || peer(&lab.a)["ways"] == json!(ways) && !peer(&lab.a)["proved_ago_ns"].is_null(),
            || format!("{name}: these ways are open: {}", peer(&lab.a)),
        );
        let known = peer(&lab.a);
        assert_eq!(known["eaten"], json!(eaten), "{name}");
        assert_eq!(known["tos_changed"], tos_changed, "{name}");
        assert!(told.contains(said), "{name}: add-dest says so: {told}");
        let status = lab.a.hostint("status");
        assert!(status.contains(said), "{name}: and status: {status}");
        exchange(&lab);
        if let Some(form) = udp {
            assert_eq!(arrived(&lab, 6000), (form.to_owned(), 200), "{name}: UDP");
        }
        match tcp {
            Some(form) => assert_eq!(arrived(&lab, 7000).0, form, "{name}: TCP"),
            None => {
                let flows = lab.b.status()["sink"]["flows"].clone();
                let flows = flows.as_array().expect("a list");
                assert!(flows.is_empty(), "{name}: all goes untagged");
            }
        }
    }
}

#[test]
fn a_path_whose_route_changed_is_proved_again() {
    let lab = Lab::new();
    let _sinks = watch(&lab, "--encap tunnel");
    assert_eq!(peer(&lab.a)["eaten"], json!([]));
    // No packet is tagged, so nothing else shows that the tunnel does not pass any more.
    lab.drop_packets("udp dport 4790");
    lab.a.sh("ip route add 10.9.2.0/24 via 10.9.1.2");
    let is_found = || peer(&lab.a)["eaten"] == json!(["vxlan-gpe"]);
    // A pair is proved once in a minute at most.
    let end = Instant::now() + Duration::from_secs(90);
    while !is_found() {
        assert!(Instant::now() < end, "it is not found: {}", peer(&lab.a));
        std::thread::sleep(Duration::from_millis(500));
    }
}
