//! Node ids that follow from the ids of machines.

use hostint::model::{MachineId, NoMachineId, NodeId, node_of_name};

const ID: &str = "00112233445566778899aabbccddeeff";

#[test]
fn texts_that_are_no_machine_id_are_refused() {
    for (sentence, text) in [
        ("a fresh image", ""),
        ("a first boot", "uninitialized\n"),
        ("zeros", "00000000000000000000000000000000"),
        ("too short", "00112233445566778899aabbccddeef"),
        ("a sign", "+0112233445566778899aabbccddeeff"),
        ("no hexadecimal number", "00112233445566778899aabbccddeefg"),
    ] {
        assert!(text.parse::<MachineId>().is_err(), "{sentence}");
    }
}

#[test]
fn ids_are_the_same_in_every_version_and_differ_between_machines_and_namespaces()
-> Result<(), NoMachineId> {
    let here: MachineId = format!("{ID}\n").parse()?;
    let other: MachineId = ID.replace('3', "4").parse()?;
    assert_eq!(
        here.node(None),
        NodeId(2_309_039_036),
        "histories know hosts by this id"
    );
    assert_eq!(
        node_of_name("node-1", None),
        NodeId(1_997_791_242),
        "and by this one"
    );
    let ids = [
        node_of_name("node-1", None),
        node_of_name("node-2", None),
        node_of_name("node-1", Some("blue")),
        here.node(None),
        here.node(Some("blue")),
        here.node(Some("red")),
        other.node(None),
    ];
    for (i, id) in ids.iter().enumerate() {
        assert!(!ids[..i].contains(id), "{ids:?}");
    }
    assert_ne!(here.fingerprint(), other.fingerprint());
    Ok(())
}

#[test]
fn no_machine_gets_an_id_that_people_choose_or_that_means_unknown() -> Result<(), NoMachineId> {
    for number in 1..100_000_u128 {
        let NodeId(id) = format!("{number:032x}").parse::<MachineId>()?.node(None);
        assert!((65_536..u32::MAX).contains(&id), "{number} -> {id}");
    }
    Ok(())
}
