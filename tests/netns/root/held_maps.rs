//! Maps that a process holds open: the one that is pinned now, and none whose pin is gone.

use std::fs;

use hostint::datapath::kernel::maps::Map;
use hostint_testing::own_pins::OwnPins;
use libbpf_rs::{MapHandle, MapType};

fn is_in_the_kernel(id: u32) -> bool {
    MapHandle::from_map_id(id).is_ok()
}

#[test]
fn a_held_map_is_the_one_that_is_pinned() {
    let own = OwnPins::new("held-maps");
    let (path, other) = (own.pins.map("sizes"), own.pins.map("other"));
    let open = || Map::<u32, u64>::open(&path).unwrap();
    assert!(open().is_none(), "nothing is pinned yet");
    drop(Map::<u32, u64>::open_or_create(&path, MapType::Hash, 8).unwrap());
    let first = open().expect("it is pinned");
    assert!(first.is_same(&open().unwrap()), "it is opened once");
    // Another map takes its name, as after an upgrade.
    drop(Map::<u32, u64>::open_or_create(&other, MapType::Hash, 16).unwrap());
    fs::remove_file(&path).unwrap();
    fs::rename(&other, &path).unwrap();
    let second = open().expect("another is pinned");
    assert!(!second.is_same(&first));
    assert_eq!(second.capacity(), 16);
    let ids = [first.id().unwrap(), second.id().unwrap()];
    drop((first, second));
    assert_eq!(
        ids.map(is_in_the_kernel),
        [false, true],
        "the pinned one alone is kept"
    );
    fs::remove_file(&path).unwrap();
    assert!(is_in_the_kernel(ids[1]), "it is held");
    assert!(open().is_none(), "its pin is gone");
    assert!(!is_in_the_kernel(ids[1]), "and it is held no longer");
}
