//! Programs of hostint that no pin tells of: the BPF file system of their pins was unmounted, or is another one.

use libbpf_rs::query::{LinkInfoIter, MapInfoIter, ProgInfoIter, ProgInfoQueryOptions};

use super::map_names::{SINK_COUNTERS, SOURCE_COUNTERS};

/// True if a program, which no pin tells of, is one of hostint's. Seeing that takes CAP_SYS_ADMIN.
pub fn is_orphan(program: u32) -> bool {
    uses_a_map(program, &[SINK_COUNTERS, SOURCE_COUNTERS])
}

/// The same for a sink's program.
pub fn is_orphan_of_sink(program: u32) -> bool {
    uses_a_map(program, &[SINK_COUNTERS])
}

fn uses_a_map(program: u32, names: &[&str]) -> bool {
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    let found = ProgInfoIter::with_query_opts(options).find(|found| found.id == program);
    let Some(found) = found else { return false };
    MapInfoIter::default()
        .filter(|map| found.map_ids.contains(&map.id))
        .any(|map| names.iter().any(|name| map.name == *name))
}

/// Returns the id of the link that holds a program on its hook.
pub fn link_of(program: u32) -> Option<u32> {
    LinkInfoIter::default()
        .find(|link| link.prog_id == program)
        .map(|link| link.id)
}
