//! Kernel memory of flow tables: as much as the file says, and a pinned table whose memory was taken in another way stays.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

use hostint::datapath::abi::{flow_key, sink_flow};
use hostint::datapath::kernel::map_names::SINK_FLOWS;
use hostint_testing::netns::{Lab, pins_below};
use hostint_testing::own_pins::OwnPins;
use libbpf_rs::{MapCore, MapHandle, MapType, libbpf_sys};

fn flags_of(path: &Path) -> u32 {
    let map = MapHandle::from_pinned_path(path).unwrap();
    map.info().unwrap().info.map_flags
}

/// Pins a table of the same types with these flags in place of the one that is pinned.
fn pin_instead(path: &Path, map_flags: u32) {
    let pinned = MapHandle::from_pinned_path(path).unwrap();
    let info = pinned.info().unwrap().info;
    // SAFETY: the call takes a number, and returns a descriptor or an error.
    let btf = unsafe { libbpf_sys::bpf_btf_get_fd_by_id(info.btf_id) };
    assert!(btf >= 0, "the table has types");
    // SAFETY: the descriptor was just made, and is nobody else's.
    let btf = unsafe { OwnedFd::from_raw_fd(btf) };
    let options = libbpf_sys::bpf_map_create_opts {
        sz: size_of::<libbpf_sys::bpf_map_create_opts>() as _,
        btf_fd: btf.as_raw_fd().cast_unsigned(),
        btf_key_type_id: info.btf_key_type_id,
        btf_value_type_id: info.btf_value_type_id,
        map_flags,
        ..Default::default()
    };
    let made = MapHandle::create(
        MapType::Hash,
        Some(SINK_FLOWS),
        info.key_size,
        info.value_size,
        info.max_entries,
        &options,
    );
    std::fs::remove_file(path).unwrap();
    made.unwrap().pin(path).unwrap();
}

#[test]
fn a_table_that_takes_memory_otherwise_stays_until_its_size_changes() {
    let own = OwnPins::new("other-flags");
    let path = own.pins.map(SINK_FLOWS);
    drop(own.load(64, 4));
    let usual = flags_of(&path);
    pin_instead(&path, usual ^ libbpf_sys::BPF_F_NO_PREALLOC);
    let flows = own.load(64, 4).flows;
    let key = flow_key {
        layers: 17,
        ..flow_key::default()
    };
    flows.set(&key, &sink_flow::default()).unwrap();
    let again = own.load(64, 4).flows;
    assert_eq!(again.id().unwrap(), flows.id().unwrap());
    assert!(again.get(&key).unwrap().is_some(), "its flows go on");
    assert_ne!(flags_of(&path), usual);
    let anew = own.load(128, 4).flows;
    assert_ne!(anew.id().unwrap(), flows.id().unwrap());
    assert_eq!(flags_of(&path), usual, "as this version makes them");
    // This one differs in more than the time at which memory is taken.
    pin_instead(&path, usual | libbpf_sys::BPF_F_ZERO_SEED);
    let anew = own.load(128, 4).flows;
    assert_eq!(flags_of(&path), usual);
    assert!(anew.get(&key).unwrap().is_none());
}

/// The memory of each map that a host has pinned, by its id: a map may be pinned twice.
fn pinned_bytes(pins: &Path) -> BTreeMap<u64, u64> {
    let maps = pins_below(pins).into_iter();
    let maps = maps.filter_map(|path| MapHandle::from_pinned_path(path).ok());
    let bytes = maps.filter_map(|map| {
        let number = map.as_fd().as_raw_fd();
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap();
        let field = |name| {
            let line = info.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().parse::<u64>().ok()
        };
        // Programs and links are pinned there, too.
        Some((field("map_id:")?, field("memlock:")?))
    });
    bytes.collect()
}

#[test]
fn a_host_with_few_flows_takes_little_memory() {
    let lab = Lab::new();
    let small = "--max-flows 4096";
    let _sink = lab.b.sink(&format!(
        "--dev b0 --node-id 2 {small} --max-fine-flows 1024"
    ));
    lab.b.hostint(&format!("source attach --dev b0 {small}"));
    let bytes: u64 = pinned_bytes(&lab.b.pins()).values().sum();
    assert!(bytes > 5_000_000, "its tables were found: {bytes}");
    assert!(bytes < 28_000_000, "hostint-sizing(7) says 27 MB: {bytes}");
}
