//! The kernel programs, loaded for tests and run on single packets by the kernel's BPF_PROG_RUN.

pub mod astray;
pub mod clock;
pub mod peer;
pub mod sink;
pub mod source;
pub mod transit;

use std::net::IpAddr;

use hostint::datapath::abi::{
    Abi, bytes_of, counter, crossing, crossing_key, flow_key, prefix_key, read_from,
};
use hostint::datapath::grants;
use hostint::model::Prefix;
use libbpf_rs::{MapCore, MapFlags, ProgramInput, ProgramMut};

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

/// Runs a program this many times on the same bytes, and tells what became of them the last time.
pub fn run_often(
    program: &ProgramMut<'_>,
    bytes: &[u8],
    context: Option<&mut [u8]>,
    repeat: u32,
) -> Ran {
    let mut out = vec![0; bytes.len() + 256];
    let input = ProgramInput {
        data_in: Some(bytes),
        data_out: Some(&mut out),
        context_in: context,
        repeat,
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
