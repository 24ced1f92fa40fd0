//! The types that both halves exchange, as build.rs reads them from the compiled kernel half, and their bytes.

/// Generated: an instance of each shared type. This object is never loaded.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
mod types_object {
    include!(concat!(env!("OUT_DIR"), "/abi.skel.rs"));
}

/// Generated: the sink's programs and maps.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod sink_object {
    include!(concat!(env!("OUT_DIR"), "/sink.skel.rs"));
}

/// Generated: the program that counts tagged packets where no sink strips them.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod astray_object {
    include!(concat!(env!("OUT_DIR"), "/astray.skel.rs"));
}

/// Generated: the program that finds out whether a program bound to an interface survives it.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod bound_object {
    include!(concat!(env!("OUT_DIR"), "/bound.skel.rs"));
}

/// Generated: the program that loses packets of a demo.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod demo_object {
    include!(concat!(env!("OUT_DIR"), "/demo.skel.rs"));
}

/// Generated: the source's programs and maps.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod source_object {
    include!(concat!(env!("OUT_DIR"), "/source.skel.rs"));
}

/// Generated: the program that changes packets on their way back to a source.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod peer_object {
    include!(concat!(env!("OUT_DIR"), "/peer.skel.rs"));
}

/// Generated: the program that renews leases.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod renew_object {
    include!(concat!(env!("OUT_DIR"), "/renew.skel.rs"));
}

/// Generated: the programs that see dropped packets.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod drop_object {
    include!(concat!(env!("OUT_DIR"), "/drop.skel.rs"));
}

/// Generated: the program that tells how much room an interface asks for in front of packets.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod head_room_object {
    include!(concat!(env!("OUT_DIR"), "/head_room.skel.rs"));
}

/// Generated: the program that tells how long a step takes on this machine.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod step_object {
    include!(concat!(env!("OUT_DIR"), "/step.skel.rs"));
}

/// Generated: the programs that time packets through the host.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod passage_object {
    include!(concat!(env!("OUT_DIR"), "/passage.skel.rs"));
}

/// Generated: the programs that see what packets wait in the hosts at both ends.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod host_times_object {
    include!(concat!(env!("OUT_DIR"), "/host_times.skel.rs"));
}

/// Generated: the program that walks over network namespaces.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod namespace_walk_object {
    include!(concat!(env!("OUT_DIR"), "/namespace_walk.skel.rs"));
}

/// Generated: the programs that watch queues.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod queue_object {
    include!(concat!(env!("OUT_DIR"), "/queue.skel.rs"));
}

/// Generated: the program that walks over processes.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod task_walk_object {
    include!(concat!(env!("OUT_DIR"), "/task_walk.skel.rs"));
}

/// Generated: the programs that read TCP connections.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod tcp_walk_object {
    include!(concat!(env!("OUT_DIR"), "/tcp_walk.skel.rs"));
}

/// Generated: the programs of a transit hop.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod transit_object {
    include!(concat!(env!("OUT_DIR"), "/transit.skel.rs"));
}

/// The programs that make room for INT in TCP segments.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod option_room_object {
    include!(concat!(env!("OUT_DIR"), "/option_room.skel.rs"));
}

/// Generated: the program that measures waits behind a transit hop.
#[allow(clippy::all, dead_code, non_camel_case_types, non_upper_case_globals)]
pub mod transit_sent_object {
    include!(concat!(env!("OUT_DIR"), "/transit_sent.skel.rs"));
}

pub use types_object::types::*;

/// A type that maps and the ring carry as its bytes.
///
/// # Safety
/// Only for `repr(C)` types of integers without padding, for which any bytes are a value.
pub unsafe trait Abi: Copy + Default {}

macro_rules! abi {
    ($($name:ident),* $(,)?) => { $(
        // SAFETY: integers and arrays of integers, padding spelled out in include/hostint/abi.h.
        unsafe impl Abi for $name {}
    )* };
}

abi!(
    flow_key,
    host_settings,
    sink_settings,
    source_key,
    source_info,
    prefix_key,
    watch_key4,
    watch_key6,
    watch_place,
    watch_node,
    watch_edge,
    watch_state,
    source_flow,
    sink_flow,
    fine_slots,
    sink_path,
    path_time_key,
    path_time,
    latency_event,
    path_event,
    loss_event,
    gap_event,
    address_pair,
    address_key,
    source_lease,
    lease_renewal,
    sink_grant,
    sink_minima,
    astray_count,
    missed_key,
    missed_counts,
    unmeasured_key,
    unmeasured_counts,
    token_buckets,
    counter,
    int_block,
    gpe_block,
    drop_settings,
    drop_count,
    drop_place_key,
    drop_key,
    drop_flow,
    drop_event,
    hop_key,
    hop_settings,
    hop_passage,
    hop_times,
    hop_flow,
    hop_event,
    queue_key,
    queue_rule,
    queue_episode,
    queue_state,
    queue_event,
    namespace_record,
    task_record,
    tcp_settings,
    tcp_record,
    transit_info,
    transit_gauge,
    transit_asker,
    transit_postcard,
    wait_key,
    wait_times,
    crossing_key,
    crossing,
);

// SAFETY: plain integers.
unsafe impl Abi for u32 {}
// SAFETY: plain integers.
unsafe impl Abi for u64 {}
// SAFETY: an integer, and an array of bytes whose length is a multiple of four.
unsafe impl Abi for watch_text {}

/// The bytes of a value as the kernel sees them.
pub fn bytes_of<T: Abi>(value: &T) -> &[u8] {
    bytes_of_all(std::slice::from_ref(value))
}

/// The bytes of consecutive values.
pub fn bytes_of_all<T: Abi>(values: &[T]) -> &[u8] {
    // SAFETY: T is plain data without padding, valid for its size.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Returns the value whose bytes the kernel wrote, or `None` if there are too few bytes.
pub fn read_from<T: Abi>(bytes: &[u8]) -> Option<T> {
    let bytes = bytes.get(..size_of::<T>())?;
    // SAFETY: enough bytes, read unaligned, any of them are a value of T.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

/// The most UDP ports whose traffic is never tagged.
pub const MAX_REPORT_PORTS: usize = hostint_limit::MAX_REPORT_PORTS.0 as usize;
/// The most edges of latency buckets.
pub const MAX_EDGES: usize = hostint_limit::MAX_EDGES.0 as usize;
/// The most bytes of one piece of the watchlist's text.
pub const WATCH_TEXT_BYTES: usize = watch_limit::WATCH_TEXT_BYTES.0 as usize;
/// The version of the pinned maps' layout.
pub const ABI_VERSION: u32 = hostint_limit::ABI_VERSION.0;
/// Bytes of an interface's name, including the final NUL.
pub const DEV_NAME_SIZE: usize = hostint_limit::DEV_NAME_SIZE.0 as usize;
/// The most leases that one run of the program renews.
pub const RENEWALS: usize = lease_table_limit::RENEWALS.0 as usize;
/// The most flow keys that one run of the sweep program looks at.
pub const SWEEP_KEYS: usize = hostint_limit::SWEEP_KEYS.0 as usize;
/// Source nodes whose quickest packets the sink keeps.
pub const MINIMA_NODES: usize = sink_minima_shape::MINIMA_NODES.0 as usize;
