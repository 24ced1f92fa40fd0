//! The kernel programs, loaded for tests and run on single packets by the kernel's BPF_PROG_RUN.

pub mod astray;
pub mod clock;
mod loaded;
pub mod peer;
pub mod sink;
pub mod source;
pub mod transit;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::Range;
use std::sync::OnceLock;

use hostint::datapath::abi::{
    Abi, bytes_of, counter, crossing, crossing_key, flow_key, prefix_key, read_from,
};
use hostint::datapath::lease::grants;
use hostint::model::Prefix;
use hostint::os::kernel;
use libbpf_rs::{
    Map, MapCore, MapFlags, MapType, Object, ProgramInput, ProgramMut, ProgramType, libbpf_sys,
};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use super::model::Key;

/// The kernel runs programs on frames of at most a page, less what it needs itself.
pub const LONGEST_FRAME: usize = 3300;

/// What became of a packet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Ran {
    pub verdict: i32,
    pub bytes: Vec<u8>,
}

/// Runs a program once on these bytes.
pub fn run(program: &ProgramMut<'_>, bytes: &[u8], context: Option<&mut [u8]>) -> Ran {
    run_often(program, bytes, context, 1)
}

/// The kernel can sum a packet up before a program at TC runs, as some network cards do (CHECKSUM_COMPLETE), and fail with EBADMSG
/// if the sum does not follow what the program changes (6.16). By itself it gets the sum wrong where a VLAN's tag is taken out of
/// the frame.
fn sum_to_follow(program: &ProgramMut<'_>, bytes: &[u8]) -> u32 {
    static KERNEL_CAN: OnceLock<bool> = OnceLock::new();
    let kernel_can = || {
        let release = kernel::release().expect("every kernel has a release");
        let mut numbers = release.split('.').map(|number| number.parse::<u32>());
        let first_two = (numbers.next(), numbers.next());
        matches!(first_two, (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= (6, 16))
    };
    let has_vlan_tag = matches!(bytes.get(12..14), Some([0x81, 0] | [0x88, 0xa8]));
    match program.prog_type() {
        ProgramType::SchedCls if !has_vlan_tag && *KERNEL_CAN.get_or_init(kernel_can) => {
            libbpf_sys::BPF_F_TEST_SKB_CHECKSUM_COMPLETE
        }
        _ => 0,
    }
}

/// As `run`, for a program that makes the packet longer at its end: the kernel forgets its sum then.
pub fn run_lengthened(program: &ProgramMut<'_>, bytes: &[u8]) -> Ran {
    run_with(program, bytes, None, 1, 0)
}

/// Runs a program this many times on the same bytes, and tells what became of them the last time.
pub fn run_often(
    program: &ProgramMut<'_>,
    bytes: &[u8],
    context: Option<&mut [u8]>,
    repeat: u32,
) -> Ran {
    run_with(
        program,
        bytes,
        context,
        repeat,
        sum_to_follow(program, bytes),
    )
}

fn run_with(
    program: &ProgramMut<'_>,
    bytes: &[u8],
    context: Option<&mut [u8]>,
    repeat: u32,
    flags: u32,
) -> Ran {
    let mut out = vec![0; bytes.len() + 256];
    let input = ProgramInput {
        data_in: Some(bytes),
        data_out: Some(&mut out),
        context_in: context,
        repeat,
        flags,
        ..ProgramInput::default()
    };
    let output = program
        .test_run(input)
        .unwrap_or_else(|err| panic!("cannot run on {} bytes: {err}", bytes.len()));
    let verdict = output.return_value.cast_signed();
    let len = output.data.map_or(0, |data| data.len());
    out.truncate(len);
    Ran {
        verdict,
        bytes: out,
    }
}

/// A program that threads share.
pub struct Shared<'a>(pub &'a ProgramMut<'a>);

// SAFETY: running a program only reads its file descriptor, and the kernel runs it for any thread.
unsafe impl Sync for Shared<'_> {}

impl Shared<'_> {
    pub fn run(&self, bytes: &[u8]) -> Ran {
        run(self.0, bytes, None)
    }
}

/// Values of a map by their keys.
pub type Content = BTreeMap<Vec<u8>, Vec<u8>>;

pub fn content(map: &dyn MapCore) -> Content {
    let of = |key: Vec<u8>| {
        let value = map.lookup(&key, MapFlags::ANY).expect("the map is there");
        value.map(|value| (key, value))
    };
    map.keys().filter_map(of).collect()
}

/// What stands in all maps of an object that CPUs share.
pub fn shared(object: &Object) -> BTreeMap<String, Content> {
    let is_shared = |map: &Map<'_>| matches!(map.map_type(), MapType::Array | MapType::Hash);
    let maps = object.maps().filter(is_shared);
    let read = |map: Map<'_>| {
        let entries = map.lookup_batch(4_096, MapFlags::ANY, MapFlags::ANY);
        let entries: Content = entries.expect("the map is there").collect();
        let is_whole =
            map.map_type() == MapType::Hash || entries.len() == map.max_entries() as usize;
        assert!(
            is_whole,
            "{} has {} entries",
            map.name().display(),
            entries.len()
        );
        (map.name().to_string_lossy().into_owned(), entries)
    };
    maps.map(read).collect()
}

/// Runs a program with zeros in its scratch, and says whether these bytes are still zero.
pub fn leaves_zeros(scratch: &impl MapCore, bytes: Range<usize>, run: impl FnOnce()) -> bool {
    let key = [0; 4];
    let read = || {
        let values = scratch.lookup_percpu(&key, MapFlags::ANY);
        values.expect("an array").expect("it has one element")
    };
    let mut zeros = read();
    zeros.iter_mut().for_each(|value| value.fill(0));
    let zeroed = scratch.update_percpu(&key, &zeros, MapFlags::ANY);
    zeroed.expect("an array");
    run();
    let all = read();
    all.iter()
        .all(|value| value[bytes.clone()].iter().all(|byte| *byte == 0))
}

/// What depends on the CPU is the same only if a thread stays there.
pub fn stay_on_one_cpu() {
    let own = Pid::from_raw(0);
    let allowed = sched_getaffinity(own).expect("every process has CPUs");
    let cpu = (0..CpuSet::count()).find(|cpu| allowed.is_set(*cpu).is_ok_and(|is| is));
    let mut only = CpuSet::new();
    only.set(cpu.expect("one at least"))
        .expect("a CPU's number");
    sched_setaffinity(own, &only).expect("the CPU is allowed");
}

pub fn get<V: Abi>(map: &impl MapCore, key: &[u8]) -> Option<V> {
    let bytes = map.lookup(key, MapFlags::ANY).expect("the map is there");
    bytes.map(|bytes| read_from(&bytes).expect("a whole value"))
}

pub fn set<V: Abi>(map: &impl MapCore, key: &[u8], value: &V) {
    map.update(key, bytes_of(value), MapFlags::ANY)
        .expect("the map has room");
}

fn words(address: [u8; 16]) -> [u32; 4] {
    std::array::from_fn(|i| u32::from_ne_bytes(address[4 * i..4 * i + 4].try_into().expect("four")))
}

pub fn key_of(key: &Key) -> flow_key {
    flow_key {
        saddr: words(key.source),
        daddr: words(key.target),
        sport: key.sport.to_be(),
        dport: key.dport.to_be(),
        layers: key.layers,
    }
}

/// A prefix as the list of allowed sources has it.
pub fn prefix_key(prefix: impl Into<IpAddr>, len: u32) -> prefix_key {
    grants::key_of(Prefix::new(prefix, len as u8).expect("a prefix"))
}

/// All counters of a role, each summed over the CPUs, by index.
pub fn read_counters(map: &impl MapCore, count: u32) -> Vec<(u64, u64)> {
    let read = |index: u32| {
        let cpus = map.lookup_percpu(bytes_of(&index), MapFlags::ANY);
        let cpus = cpus.expect("the map is there").expect("an array has all");
        let cpus = cpus.iter().filter_map(|bytes| read_from::<counter>(bytes));
        cpus.fold((0, 0), |(packets, bytes), cpu| {
            (packets + cpu.packets, bytes + cpu.bytes)
        })
    };
    (0..count).map(read).collect()
}

/// The packets that a program counted as they came by: the place, and the sum of all blocks; then forgets them.
pub fn take_crossings(map: &impl MapCore) -> Vec<(crossing_key, u64)> {
    let keys: Vec<Vec<u8>> = map.keys().collect();
    let taken = keys.into_iter().map(|key| {
        let count: crossing = get(map, &key).expect("it is there");
        map.delete(&key).expect("it was there");
        let key = read_from(&key).expect("a whole key");
        (key, count.packets.iter().sum())
    });
    taken.collect()
}

/// The TTL of the packets that a program counted, and the block since which all have it.
pub fn ttls_crossed(map: &impl MapCore) -> Vec<(u32, u32)> {
    let counts = map.keys().filter_map(|key| get::<crossing>(map, &key));
    counts.map(|count| (count.ttl, count.ttl_from)).collect()
}

/// The blocks in which a program counted packets.
pub fn blocks_crossed(map: &impl MapCore) -> Vec<usize> {
    let counts = map.keys().filter_map(|key| get::<crossing>(map, &key));
    let blocks = counts.flat_map(|count| {
        let counted = count.packets.into_iter().enumerate();
        counted.filter_map(|(block, packets)| (packets > 0).then_some(block))
    });
    blocks.collect()
}

pub fn zero_counters(map: &impl MapCore, count: u32) {
    let cpus = libbpf_rs::num_possible_cpus().expect("the number of CPUs");
    for index in 0..count {
        let zeros = vec![vec![0; size_of::<counter>()]; cpus];
        map.update_percpu(bytes_of(&index), &zeros, MapFlags::ANY)
            .expect("an array has all");
    }
}
