//! The network namespaces of this machine that live, as a program of the kernel tells them.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::mem::MaybeUninit;

use libbpf_rs::skel::SkelBuilder;

use super::iterator;
use super::load::load_object;
use crate::datapath::abi::namespace_walk_object::NamespaceWalkSkelBuilder;
use crate::datapath::abi::{namespace_record, read_from};

const RECORD: usize = size_of::<namespace_record>();

/// Returns the cookies of all network namespaces that live, and their inodes, by which those before Linux 5.14 are named.
///
/// # Errors
/// If there are more than the program tells, or the kernel refuses it (5.10 refuses its loop).
pub fn living() -> io::Result<BTreeSet<u64>> {
    let mut object = MaybeUninit::uninit();
    let open = NamespaceWalkSkelBuilder::default()
        .open(&mut object)
        .map_err(io::Error::other)?;
    let skel = load_object(open)?;
    let link = iterator::link(&skel.progs.walk_namespaces)?;
    let mut bytes = Vec::new();
    iterator::begin(&link)?.read_to_end(&mut bytes)?;
    let records: Vec<namespace_record> = bytes.chunks_exact(RECORD).filter_map(read_from).collect();
    let ids = |one: &namespace_record| [one.cookie, one.inode];
    match records.split_last() {
        // Where the list's head lies among zeros, a record of zeros stands between others, too.
        Some((end, all)) if ids(end) == [0, 0] => Ok(all.iter().flat_map(ids).collect()),
        _ => Err(io::Error::other("there are too many network namespaces")),
    }
}
