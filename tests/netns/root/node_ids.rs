//! Node ids that nobody gave: derived from the machine id, kept, and shared by all roles of a host.

use std::fs;
use std::path::PathBuf;

use hostint::model::{MachineId, NodeId};
use hostint_testing::netns::{Host, Lab, await_that};

/// A machine id of a host, as long as this lives.
struct Machine(PathBuf);

impl Machine {
    fn of(host: &Host, text: &str) -> Self {
        // ip netns exec lays what is in there over /etc
        let folder = PathBuf::from(format!("/etc/netns/{}", host.ns));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("machine-id"), text).unwrap();
        Self(folder)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const FIRST: &str = "00112233445566778899aabbccddeeff\n";
const SECOND: &str = "ffeeddccbbaa99887766554433221100\n";

fn machine(text: &str) -> MachineId {
    text.parse().unwrap()
}

/// The id and its origin, as status shows them.
fn node(host: &Host) -> (u64, String) {
    let status = host.status();
    let origin = status["node_origin"].as_str().unwrap_or("none");
    (status["node_id"].as_u64().unwrap(), origin.to_owned())
}

fn derived(id: NodeId) -> (u64, String) {
    (id.0.into(), "derived".to_owned())
}

fn given(id: u64) -> (u64, String) {
    (id, "given".to_owned())
}

#[test]
fn a_host_without_a_given_id_keeps_a_derived_one_for_all_its_roles() {
    let lab = Lab::new();
    let _machine = Machine::of(&lab.a, FIRST);
    let expected = machine(FIRST).node(Some(&lab.a.ns));
    let mut sink = lab.a.sink("--dev a0");
    assert_eq!(node(&lab.a), derived(expected));
    assert!(
        sink.stderr().contains(&format!("node id {expected}")),
        "{}",
        sink.stderr()
    );
    assert!(
        lab.a
            .hostint("status")
            .contains(&format!("node id {expected} (derived from the machine id)"))
    );
    lab.a.hostint("source attach --dev a0");
    lab.a.hostint("transit attach --dev a0");
    assert_eq!(node(&lab.a), derived(expected), "all roles");
    let other = lab.a.try_hostint("transit attach --dev a0 --node-id 7");
    assert_eq!(other.status.code(), Some(2), "another id for one role");

    // A later version may derive another one from the same machine id.
    sink.end();
    lab.a.hostint("transit detach");
    lab.a.hostint("source detach");
    lab.a.hostint("sink detach");
    let file = lab.a.state().join(format!("id@{}", lab.a.ns));
    let kept = fs::read_to_string(&file).unwrap();
    fs::write(&file, kept.replace(&expected.to_string(), "700001")).unwrap();
    let mut sink = lab.a.sink("--dev a0");
    assert_eq!(node(&lab.a), derived(NodeId(700_001)), "the kept one stays");
    sink.end();
    lab.a.hostint("sink detach");

    // A disk is copied, and the copy gets a machine id of its own.
    let _clone = Machine::of(&lab.a, SECOND);
    let sink = lab.a.sink("--dev a0");
    let fresh = machine(SECOND).node(Some(&lab.a.ns));
    assert_eq!(node(&lab.a), derived(fresh), "what another machine kept");
    assert!(
        sink.stderr()
            .contains("keeps 700001, but for another machine id"),
        "{}",
        sink.stderr()
    );
}

#[test]
fn a_given_id_wins_and_a_role_that_runs_lends_its_id() {
    let lab = Lab::new();
    let _machine = Machine::of(&lab.a, FIRST);
    let mut sink = lab.a.sink("--dev a0 --node-id 2");
    assert_eq!(node(&lab.a), given(2));
    lab.a.hostint("source attach --dev a0");
    assert_eq!(node(&lab.a), given(2), "the source has the sink's");
    sink.end();
    let mut sink = lab.a.sink("--dev a0");
    assert_eq!(
        node(&lab.a),
        given(2),
        "programs that stayed attached have it"
    );
    sink.end();
    lab.a.hostint("source detach");
    lab.a.hostint("sink detach");
    lab.a.hostint("source attach --dev a0 --force");
    let expected = machine(FIRST).node(Some(&lab.a.ns));
    assert_eq!(
        node(&lab.a),
        derived(expected),
        "nothing is attached that has one"
    );
    let _sink = lab.a.sink("--dev a0 --node-id 3");
    assert_eq!(node(&lab.a), given(3), "a sink's given one wins");
}

#[test]
fn a_machine_without_an_id_is_told_what_to_try() {
    let lab = Lab::new();
    for (sentence, text) in [("a first boot", "uninitialized\n"), ("an image", "")] {
        let _machine = Machine::of(&lab.a, text);
        for line in [
            "sink --dev a0",
            "source attach --dev a0 --force",
            "transit attach --dev a0",
            "postcards --drops --collector 127.0.0.1",
        ] {
            let output = lab.a.try_hostint(line);
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{sentence}: {line}: {said}");
            assert!(
                said.contains("cannot use /etc/machine-id") && said.contains("try --node-id 2"),
                "{sentence}: {line}: {said}"
            );
        }
    }
}

#[test]
fn clones_that_share_a_machine_id_are_named_as_such() {
    let lab = Lab::new();
    let machines = [Machine::of(&lab.a, FIRST), Machine::of(&lab.b, FIRST)];
    // Namespaces have names of their own, clones have not.
    for host in [&lab.a, &lab.b] {
        fs::create_dir_all(host.state()).unwrap();
        let kept = format!("700001 {:016x}\n", machine(FIRST).fingerprint());
        fs::write(host.state().join(format!("id@{}", host.ns)), kept).unwrap();
    }
    let _sinks = [
        lab.a.leasing_sink("--dev a0"),
        lab.b.leasing_sink("--dev b0"),
    ];
    lab.a.hostint("source attach --dev a0");
    lab.a.hostint("source add-dest 10.9.2.1");
    await_that("the collision is named", || {
        lab.a
            .hostint("status")
            .contains("give the clone a machine id of its own")
    });
    drop(machines);
}
