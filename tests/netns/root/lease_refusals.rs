//! A source that must not tag to a host leaves its packets untagged and states the reason.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use hostint_testing::netns::{Daemon, Host, Lab, await_that, sh};

use crate::exchange::exchange_udp;

/// Files that are gone with it.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(lab: &Lab) -> Self {
        let path = std::env::temp_dir().join(format!("{}-keys", lab.a.ns));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn key(&self, name: &str, text: &str, mode: u32) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A host c (10.9.3.1, c0) behind m.
pub(super) struct Third(pub(super) Host);

impl Third {
    pub(super) fn new(lab: &Lab) -> Self {
        let host = lab.host("c");
        sh(&format!(
            "ip link add c0 netns {c} type veth peer name m2 netns {m}
             ip -n {c} addr add 10.9.3.1/24 dev c0; ip -n {c} link set c0 up
             ip -n {m} addr add 10.9.3.2/24 dev m2; ip -n {m} link set m2 up
             ip -n {c} route add default via 10.9.3.2",
            c = host.ns,
            m = lab.m.ns
        ));
        Self(host)
    }
}

impl Drop for Third {
    fn drop(&mut self) {
        let _ = self.0.try_hostint("sink detach --now");
    }
}

/// A source on a, and its daemon, which keeps leases.
fn watch(lab: &Lab, sink: &str, source: &str) -> Daemon {
    let daemon = lab.a.leasing_sink(&format!("--dev a0 --node-id 1 {sink}"));
    lab.a.hostint(&format!("source attach --dev a0 {source}"));
    lab.a.hostint("source add-dest 10.9.2.1");
    daemon
}

fn state(host: &Host, dest: &str) -> String {
    let status = host.status();
    let peers = status["source"]["peers"].as_array().unwrap();
    let peer = peers.iter().find(|peer| peer["dest"] == dest);
    peer.map_or("none", |peer| peer["state"].as_str().unwrap())
        .to_owned()
}

fn await_state(lab: &Lab, what: &str, dest: &str, wanted: &str) {
    await_that(
        &format!(
            "{what}: the state of {dest} is {wanted}, not {}",
            state(&lab.a, dest)
        ),
        || state(&lab.a, dest) == wanted && (wanted != "granted" || is_proved(&lab.a, dest)),
    );
}

fn is_proved(host: &Host, dest: &str) -> bool {
    let status = host.status();
    let mut peers = status["source"]["peers"].as_array().unwrap().iter();
    let peer = peers.find(|peer| peer["dest"] == dest);
    peer.is_some_and(|peer| !peer["proved_ago_ns"].is_null())
}

#[test]
fn sinks_that_do_not_suit_are_not_tagged_to_and_named_with_the_reason() {
    struct Case {
        name: &'static str,
        source: &'static str,
        sink: &'static str,
        state: &'static str,
        says: &'static [&'static str],
    }
    let case = |name, source, sink, state, says| Case {
        name,
        source,
        sink,
        state,
        says,
    };
    let cases = [
        case(
            "both sides have one node id",
            "",
            "--node-id 1",
            "own_node",
            &["own node id (node 1)", "--node-id"],
        ),
        case(
            "the sink knows only extension-udp",
            "--encap over-tcp-udp",
            "--node-id 2 --encap extension-udp",
            "encapsulation",
            &["(node 2)", "--encap on both sides"],
        ),
        case(
            "superpackets in an encapsulation that the sink does not know",
            "--encap over-tcp-udp",
            "--node-id 2 --encap over-tcp-udp",
            "encapsulation",
            &["(node 2)", "--superpackets here"],
        ),
        case(
            "the sink has another mark",
            "--encap over-tcp-udp",
            "--node-id 2 --dscp-value 0x02 --dscp-mask 0x02",
            "mark",
            &["(node 2)", "--dscp-value, --dscp-mask"],
        ),
        case(
            "the sink has another extension port",
            "--encap extension-udp",
            "--node-id 2 --extension-port 4444",
            "mark",
            &["(node 2)", "--extension-port on both sides"],
        ),
    ];
    for case in cases {
        let lab = Lab::new();
        let name = case.name;
        let _b = lab.b.leasing_sink(&format!("--dev b0 {}", case.sink));
        let a = watch(&lab, "", case.source);
        await_state(&lab, name, "10.9.2.1", case.state);
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        exchange_udp(&from, &to, 50, 1000);
        assert_eq!(lab.a.count("source", "tagged"), 0, "{name}");
        assert_eq!(lab.a.count("source", "no_lease"), 50, "{name}");
        let stderr = a.stderr();
        let line = stderr
            .lines()
            .find(|line| line.contains("10.9.2.1") && line.contains("packets stay untagged"))
            .unwrap_or_else(|| panic!("{name}: says nothing: {stderr}"));
        for part in case.says {
            assert!(line.contains(part), "{name}: no {part}: {line}");
        }
        let text = lab.a.hostint("status");
        assert!(text.contains("peers: 0 of 1 ready"), "{name}: {text}");
        assert!(text.contains("packets stay untagged"), "{name}: {text}");
    }
}

#[test]
fn of_two_hosts_with_one_node_id_only_the_first_is_tagged_to() {
    let lab = Lab::new();
    let c = Third::new(&lab);
    let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
    let mut c_sink = c.0.leasing_sink("--dev c0 --node-id 2");
    let a = watch(&lab, "", "");
    lab.a.hostint("source add-dest 10.9.3.1");
    await_state(&lab, "the first", "10.9.2.1", "granted");
    await_state(&lab, "the second", "10.9.3.1", "duplicate");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), c.0.udp("10.9.3.1:6000"));
    exchange_udp(&from, &to, 50, 1000);
    assert_eq!(lab.a.count("source", "tagged"), 0, "to the second");
    exchange_udp(&from, &lab.b.udp("10.9.2.1:6000"), 50, 1000);
    assert_eq!(lab.a.count("source", "tagged"), 50, "to the first");
    let stderr = a.stderr();
    let line = stderr
        .lines()
        .find(|line| line.contains("10.9.3.1: "))
        .unwrap_or_else(|| panic!("says nothing: {stderr}"));
    assert!(
        line.contains("10.9.2.1") && line.contains("(node 2)") && line.contains("untagged"),
        "names both: {line}"
    );

    assert_eq!(c_sink.end(), Some(0));
    let _c = c.0.leasing_sink("--dev c0 --node-id 3");
    await_state(&lab, "with a node id of its own", "10.9.3.1", "granted");
    exchange_udp(&from, &to, 50, 1000);
    assert_eq!(lab.a.count("source", "tagged"), 100);
}

#[test]
fn hosts_with_different_keys_do_not_tag_to_each_other() {
    const KEYS: [&str; 2] = [
        "000102030405060708090a0b0c0d0e0f\n",
        "000102030405060708090A0B0C0D0E0E",
    ];
    for (name, a_key, b_key, granted) in [
        ("two keys", Some(0), Some(1), false),
        ("the source has none", None, Some(1), false),
        ("the sink has none", Some(0), None, false),
        ("one key", Some(1), Some(1), true),
    ] {
        let lab = Lab::new();
        let folder = Folder::new(&lab);
        let flag = |key: Option<usize>| match key {
            Some(at) => format!(
                "--lease-key {}",
                folder.key(&at.to_string(), KEYS[at], 0o600)
            ),
            None => String::new(),
        };
        let _b = lab
            .b
            .leasing_sink(&format!("--dev b0 --node-id 2 {}", flag(b_key)));
        let a = watch(&lab, &flag(a_key), "");
        let wanted = if granted { "granted" } else { "forged" };
        await_state(&lab, name, "10.9.2.1", wanted);
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        exchange_udp(&from, &to, 50, 1000);
        let expected = if granted { 50 } else { 0 };
        assert_eq!(lab.a.count("source", "tagged"), expected, "{name}");
        assert_eq!(
            lab.b.count("sink", "lease_forged") > 0,
            !granted,
            "{name}: what the sink counts"
        );
        assert_eq!(
            lab.b.count("sink", "lease_granted") > 0,
            granted,
            "{name}: what the sink grants"
        );
        if !granted {
            await_that(&format!("{name}: the sink is asked on and on"), || {
                lab.b.count("sink", "lease_forged") > 5
            });
        }
        let stderr = a.stderr();
        let about: Vec<&str> = stderr
            .lines()
            .filter(|line| line.contains("10.9.2.1: "))
            .collect();
        // A granted lease may be told of twice: before its path is proved, and after.
        let most = if granted { 2 } else { 1 };
        assert!((1..=most).contains(&about.len()), "{name}: {stderr}");
        assert_eq!(about[0].contains("--lease-key?"), !granted, "{name}");
    }
}

#[test]
fn a_key_that_is_none_or_that_others_may_read_is_refused() {
    let lab = Lab::new();
    let folder = Folder::new(&lab);
    let good = "000102030405060708090a0b0c0d0e0f\n";
    for (name, text, mode, says) in [
        ("readable by all", good, 0o644, "others may read it"),
        ("readable by a group", good, 0o640, "others may read it"),
        ("empty", "", 0o600, "expected 32 hexadecimal digits"),
        ("too short", "0001", 0o600, "expected 32 hexadecimal digits"),
        (
            "no digits",
            "the key that nobody ever guesses",
            0o600,
            "expected 32 hexadecimal digits",
        ),
        (
            "all zero, which is none",
            "00000000000000000000000000000000",
            0o600,
            "not all zero",
        ),
    ] {
        let path = folder.key("key", text, mode);
        for command in [
            "sink --dev b0 --node-id 2",
            "source attach --dev b0 --force --foreground --node-id 2",
        ] {
            let refused = lab.b.try_hostint(&format!("{command} --lease-key {path}"));
            let stderr = String::from_utf8(refused.stderr).unwrap();
            assert_eq!(
                refused.status.code(),
                Some(2),
                "{name}: {command}: {stderr}"
            );
            assert!(
                stderr.contains("cannot use lease key") && stderr.contains(says),
                "{name}: {command}: {stderr}"
            );
        }
    }
    let missing = lab
        .b
        .try_hostint("sink --dev b0 --node-id 2 --lease-key /nonexistent/key");
    assert_eq!(missing.status.code(), Some(2));
    let stderr = String::from_utf8(missing.stderr).unwrap();
    assert!(stderr.contains("cannot read lease key"), "{stderr}");
    assert_eq!(lab.b.try_hostint("status").status.code(), Some(3));
}

#[test]
fn a_destination_without_a_sink_is_added_and_named() {
    let lab = Lab::new();
    let a = lab.a.leasing_sink("--dev a0 --node-id 1");
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    for (name, dest, says, then) in [
        (
            "a host that only answers pings",
            "10.9.2.1",
            "no sink",
            "no_sink",
        ),
        ("nobody", "10.9.2.77", "no sink answers yet", "silent"),
    ] {
        let added = lab.a.try_hostint(&format!("source add-dest {dest}"));
        let stderr = String::from_utf8(added.stderr).unwrap();
        assert_eq!(added.status.code(), Some(0), "{name}: {stderr}");
        assert!(
            stderr.contains(&format!("{dest}: ")) && stderr.contains(says),
            "{name}: {stderr}"
        );
        assert!(stderr.contains("untagged"), "{name}: {stderr}");
        await_state(&lab, name, dest, then);
    }
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    exchange_udp(&from, &to, 20, 1000);
    assert_eq!(lab.a.count("source", "tagged"), 0);

    // Who watches with --static knows better.
    lab.a.hostint("source del-dest 10.9.2.1");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    from.send_to(&[7; 100], "10.9.2.1:6000").unwrap();
    let len = to.recv(&mut [0; 2000]).unwrap();
    assert_eq!(lab.a.count("source", "tagged"), 1, "static");
    assert!(len > 100, "INT is in the data of a host without a sink");
    assert!(a.stderr().contains("10.9.2.1: no sink"), "{}", a.stderr());
}
