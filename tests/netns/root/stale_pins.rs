//! Pins of network namespaces that are gone go when a daemon starts; those of namespaces that live stay, whatever holds them.

use std::fs::File;
use std::path::PathBuf;

use hostint_testing::netns::{Host, Lab, await_that, sh};

use crate::own_bpffs::OwnBpffs;

/// A further host whose sink outlived its daemon, and the pins of it.
struct Left {
    host: Host,
    pins: PathBuf,
}

impl Left {
    fn at(lab: &Lab, name: &str) -> Self {
        let mut host = lab.host(name);
        host.bpffs = lab.a.bpffs.clone();
        host.sh("ip link add d0 type veth peer name d1; ip link set d0 up");
        host.hostint("sink attach --dev d0 --node-id 7");
        let pins = host.pins();
        Self { host, pins }
    }

    fn lose_interface(&self) {
        self.host.sh("ip link del d0");
    }

    /// Takes away the namespace's name, and returns a descriptor that keeps it alive.
    fn lose_name(&self) -> File {
        let held = File::open(format!("/run/netns/{}", self.host.ns)).unwrap();
        sh(&format!("ip netns del {}", self.host.ns));
        held
    }
}

#[test]
fn only_those_of_namespaces_that_are_gone_are_removed() {
    let mut lab = Lab::new();
    let _own = OwnBpffs::of(&mut lab.a);
    let gone = Left::at(&lab, "gone");
    let named = Left::at(&lab, "named");
    named.lose_interface();
    let opened = Left::at(&lab, "opened");
    opened.lose_interface();
    let opened_by = opened.lose_name();
    let attached = Left::at(&lab, "attached");
    let attached_by = attached.lose_name();
    let inhabited = Left::at(&lab, "inhabited");
    inhabited.lose_interface();
    let mut inhabitant = inhabited.host.command("sleep", &["1000"]).spawn().unwrap();
    await_that("somebody is in the namespace", || {
        let pids = sh(&format!("ip netns pids {}", inhabited.host.ns));
        !pids.trim().is_empty()
    });
    drop(inhabited.lose_name());

    let attach = |said: &mut String| {
        let output = lab.a.try_hostint("sink attach --dev a0 --node-id 1");
        assert!(output.status.success(), "{output:?}");
        said.push_str(&String::from_utf8(output.stderr).unwrap());
    };
    let mut said = String::new();
    attach(&mut said);
    assert!(!said.contains("removed the pins"), "all live: {said}");
    drop(gone.lose_name());
    await_that("pins of a namespace that is gone go", || {
        attach(&mut said);
        !gone.pins.exists()
    });
    let removed = "removed the pins of 1 network namespace that is gone";
    assert_eq!(said.matches(removed).count(), 1, "{said}");
    for (left, why) in [
        (&named, "it has a name"),
        (&opened, "a descriptor holds it"),
        (&attached, "a descriptor holds it, and its interface"),
        (&inhabited, "a process is in it"),
    ] {
        assert!(left.pins.join("maps-v4").exists(), "{why}: {said}");
    }

    inhabitant.kill().unwrap();
    inhabitant.wait().unwrap();
    drop((opened_by, attached_by));
    await_that("they go with what held them", || {
        attach(&mut said);
        [&opened, &attached, &inhabited]
            .iter()
            .all(|left| !left.pins.exists())
    });
    assert!(named.pins.exists(), "it still has a name: {said}");
    named.host.hostint("sink detach");
    lab.a.hostint("sink detach");
}

#[test]
fn a_daemon_keeps_its_pins_though_its_interface_and_the_name_of_its_namespace_are_gone() {
    let mut lab = Lab::new();
    let _own = OwnBpffs::of(&mut lab.a);
    let mut other = lab.host("other");
    other.bpffs = lab.a.bpffs.clone();
    other.sh("ip link add d0 type veth peer name d1; ip link set d0 up");
    let mut daemon = other.sink("--dev d0 --node-id 7");
    let pins = other.pins();
    other.sh("ip link del d0");
    sh(&format!("ip netns del {}", other.ns));
    lab.a.hostint("sink attach --dev a0 --node-id 1");
    assert!(pins.exists() && !daemon.has_ended());
    daemon.kill();
    await_that("they go after it", || {
        lab.a.hostint("sink attach --dev a0 --node-id 1");
        !pins.exists()
    });
    lab.a.hostint("sink detach");
}
