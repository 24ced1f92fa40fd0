//! Kernel memory of flow tables: as much as the file says, and a pinned table whose memory was taken in another way stays.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use hostint::datapath::abi::{flow_key, sink_flow};
use hostint::datapath::kernel::map_names::SINK_FLOWS;
use hostint_testing::netns::{Daemon, Host, Lab, await_that, pins_below};
use hostint_testing::own_pins::OwnPins;
use libbpf_rs::{MapCore, MapHandle, MapType, libbpf_sys};

use super::agent::{ConfigFile, processes};

/// The most bytes of kernel memory that the roles of a host take at the start.
const MOST_OF_BOTH: u64 = 15_000_000;
const MOST_OF_ALL: u64 = 25_000_000;
/// An idle host wakes less often than so many times in this span.
const MOST_WAKES: u64 = 60;
const IDLE_SPAN: Duration = Duration::from_millis(2500);

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

/// The memory of a map, by its id, if this is what the kernel says of a descriptor of one.
fn memory_of(info: &Path) -> Option<(u64, u64)> {
    let info = std::fs::read_to_string(info).ok()?;
    let field = |name| {
        let line = info.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse::<u64>().ok()
    };
    Some((field("map_id:")?, field("memlock:")?))
}

/// The memory of each map that a host has pinned, or that an agent's processes hold, by its id.
fn kernel_bytes(host: &Host, agent: &Daemon) -> BTreeMap<u64, u64> {
    let pinned = pins_below(&host.pins()).into_iter();
    // Programs and links are pinned there, too.
    let pinned = pinned.filter_map(|path| MapHandle::from_pinned_path(path).ok());
    let pinned = pinned.filter_map(|map| {
        let number = map.as_fd().as_raw_fd();
        memory_of(Path::new(&format!("/proc/self/fdinfo/{number}")))
    });
    let mut bytes: BTreeMap<u64, u64> = pinned.collect();
    for (_, pid) in processes(agent) {
        let infos = std::fs::read_dir(format!("/proc/{pid}/fdinfo")).unwrap();
        bytes.extend(infos.filter_map(|info| memory_of(&info.unwrap().path())));
    }
    bytes
}

/// How often the processes of an agent have waited.
fn waits(agent: &Daemon) -> u64 {
    let of_process = |(_, pid): (String, i32)| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.unwrap().trim().parse::<u64>().unwrap()
    };
    processes(agent).into_iter().map(of_process).sum()
}

/// What a process waits for besides its loop, such as a lock of the kernel, counts too.
fn assert_sleeps_mostly(agent: &Daemon) {
    let (begin, before) = (Instant::now(), waits(agent));
    await_that("the host wakes", || waits(agent) >= before + MOST_WAKES);
    let took = begin.elapsed();
    assert!(
        took >= IDLE_SPAN,
        "{MOST_WAKES} wake-ups of an idle host came within {took:?}"
    );
}

#[test]
fn a_host_takes_little_memory_before_it_has_flows() {
    let lab = Lab::new();
    let both = "[sink]\ndev = \"b0\"\nnode-id = 2\n[source]\ndev = \"b0\"\n[[watch]]\nto = \"10.9.1.0/24\"\n";
    let others = "[transit]\ndev = \"b0\"\n[postcards]\ndev = \"b0\"\ndrops = \"all\"\nhops = \"all\"\n[tcp]\n";
    for (roles, tables, said, most) in [
        (
            "sink and source",
            both.to_owned(),
            "source is attached",
            MOST_OF_BOTH,
        ),
        (
            "all roles",
            format!("{both}{others}"),
            "connections watched",
            MOST_OF_ALL,
        ),
    ] {
        let file = ConfigFile::new(&lab.b, &tables);
        let agent = lab.b.start(&format!("run --config {}", file.shown()), said);
        assert_sleeps_mostly(&agent);
        let bytes = kernel_bytes(&lab.b, &agent);
        let all: u64 = bytes.values().sum();
        assert!(all > 5_000_000, "{roles}: the tables were found: {all}");
        assert!(
            all < most,
            "{roles}: hostint-sizing(7) says less than {all}: {bytes:?}"
        );
    }
}
