//! Interfaces that come while a daemon runs and fit a pattern in its --dev are measured; of those that are gone nothing is left.

use hostint_testing::netns::{Daemon, Lab, await_that_or, pins_below, sh};

use crate::foreign::tcx_programs;

/// Makes a pair of interfaces, one of which is m's and has this name.
fn pair(lab: &Lab, dev: &str) {
    let m = &lab.m.ns;
    sh(&format!(
        "ip -n {m} link add {dev} type veth peer name {dev}p; ip -n {m} link set {dev} up; ip -n {m} link set {dev}p up"
    ));
}

fn has_program(lab: &Lab, dev: &str) -> bool {
    !tcx_programs(&lab.m, dev).concat().is_empty()
}

fn says(daemon: &Daemon, what: &str) {
    await_that_or(
        || daemon.stderr().contains(what),
        || format!("not said: {what}: {}", daemon.stderr()),
    );
}

#[test]
fn interfaces_that_come_are_measured_and_those_that_go_leave_nothing() {
    let roles = [
        (
            "sink --dev m0,w?,v? --node-id 3 --hook tc",
            "sink attached to m0",
        ),
        (
            "source --dev v? --node-id 3 --hook tc-ingress --force",
            "source attached to v0",
        ),
        ("transit --dev m0,v? --node-id 3", "attached to m0"),
    ];
    for (command, ready) in roles {
        let lab = Lab::new();
        pair(&lab, "v0");
        let daemon = lab.m.start(command, ready);
        let before = daemon.stderr();
        assert!(!before.contains("came"), "{command}: {before}");
        for dev in ["v1", "v2"] {
            pair(&lab, dev);
            says(&daemon, &format!("{dev} came, and is measured, too"));
            assert!(has_program(&lab, dev), "{command}: {dev}");
        }
        lab.m.sh("ip link del v1");
        says(&daemon, "v1 is gone, and is not waited for any more");
        let pins = pins_below(&lab.m.pins()).join(" ");
        assert!(!pins.contains("v1"), "{command}: {pins}");
        assert!(pins.contains("v2"), "{command}: {pins}");
    }
}
