//! The sink chooses the hook of each interface by itself.

use hostint_testing::netns::{Host, Lab, await_that};

fn hook(host: &Host, dev: &str) -> (String, String) {
    let status = host.figures();
    let attachments = status["sink"]["attachments"].as_array().unwrap();
    let at = attachments.iter().find(|at| at["dev"] == dev).unwrap();
    let text = |key: &str| at[key].as_str().unwrap_or_default().to_owned();
    (text("hook"), text("why"))
}

#[test]
fn a_hook_is_chosen_for_each_interface() {
    let forward = "sysctl -qw net.ipv4.conf.b0.forwarding=1";
    let second = "ip link add d0 type veth peer name d1; ip link set d0 up";
    let bridge = "ip link add br0 type bridge; ip link set b0 master br0; ip link set br0 up";
    let veth = "a software interface (veth)";
    for (sentence, setup, flags, taken, says) in [
        ("a veth", "true".to_owned(), "", "tc", veth),
        (
            "a container that inherited forwarding",
            forward.to_owned(),
            "",
            "tc",
            veth,
        ),
        (
            "a host with two interfaces",
            second.to_owned(),
            "",
            "tc",
            veth,
        ),
        (
            "a router",
            format!("{forward}; {second}"),
            "",
            "xdp",
            "the host forwards",
        ),
        (
            "a port of a bridge",
            bridge.to_owned(),
            "",
            "xdp",
            "the host forwards",
        ),
        ("as named", "true".to_owned(), "--hook xdp", "xdp", ""),
        (
            "a mode of XDP",
            "true".to_owned(),
            "--xdp-mode generic",
            "xdp",
            "",
        ),
    ] {
        let lab = Lab::new();
        lab.b
            .sh("sysctl -qw net.ipv4.conf.all.forwarding=0 net.ipv6.conf.all.forwarding=0");
        lab.b.sh(&setup);
        let sink = lab.b.sink(&format!("--dev b0 --node-id 2 {flags}"));
        let (found, why) = hook(&lab.b, "b0");
        assert_eq!(found, taken, "{sentence}");
        assert!(why.starts_with(veth), "{sentence}: {why}");
        let said = sink.stderr();
        match says {
            "" => assert!(!said.contains("--hook auto"), "{sentence}: {said}"),
            says => {
                let line = said.lines().find(|line| line.contains("--hook auto"));
                assert!(line.unwrap_or(&said).contains(says), "{sentence}: {said}");
            }
        }
    }
}

#[test]
fn a_sink_stays_at_its_hook_until_it_is_detached() {
    let lab = Lab::new();
    let mut sink = lab.b.sink("--dev b0 --node-id 2 --hook xdp");
    sink.end();
    let mut sink = lab.b.sink("--dev b0 --node-id 2");
    assert_eq!(hook(&lab.b, "b0").0, "xdp", "the restart");
    assert!(
        sink.stderr().contains("was attached there already"),
        "{}",
        sink.stderr()
    );
    sink.end();
    lab.b.hostint("sink detach");
    let _sink = lab.b.sink("--dev b0 --node-id 2");
    await_that("tc is taken", || hook(&lab.b, "b0").0 == "tc");
}

#[test]
fn the_verifier_sees_only_programs_of_hooks_that_are_used() {
    for (sentence, flags, loaded, not_loaded) in [
        ("XDP", "--hook xdp", "sink", "sink_tc"),
        ("tc", "--hook tc", "sink_tc", "sink"),
        ("tc, chosen for a veth", "", "sink_tc", "sink"),
    ] {
        let lab = Lab::new();
        let sink = lab
            .b
            .sink(&format!("--dev b0 --node-id 2 --log-level debug {flags}"));
        let said = sink.stderr();
        let says = |program: &str| said.contains(&format!("loaded program {program} (id"));
        assert!(says(loaded), "{sentence}: {said}");
        assert!(!says(not_loaded), "{sentence}: {said}");
        assert!(says("sink_sweep"), "{sentence}: {said}");
    }
}
