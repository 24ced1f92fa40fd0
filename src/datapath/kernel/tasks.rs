//! The cgroup and the network namespace of each process, as a program of the kernel tells them.

use std::fs::File;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use libbpf_rs::skel::SkelBuilder;

use super::iterator;
use super::load::load_object;
use crate::datapath::abi::task_walk_object::TaskWalkSkelBuilder;
use crate::datapath::abi::{read_from, task_record};

/// The most processes that are reported.
const MOST: u64 = 1 << 20;
const RECORD: usize = size_of::<task_record>();

/// The program, linked.
pub struct TaskWalk {
    link: OwnedFd,
}

impl TaskWalk {
    /// # Errors
    /// If the kernel has no such iterators (5.8), or refuses the program.
    pub fn load() -> io::Result<Self> {
        let mut object = MaybeUninit::uninit();
        let open = TaskWalkSkelBuilder::default()
            .open(&mut object)
            .map_err(io::Error::other)?;
        let skel = load_object(open)?;
        Ok(Self {
            link: iterator::link(&skel.progs.walk_tasks)?,
        })
    }

    /// Visits the id of the cgroup and the inode of the network namespace of each process.
    pub fn visit(&self, mut visit: impl FnMut(u64, u32)) -> io::Result<()> {
        let file: File = iterator::begin(&self.link)?;
        let mut bytes = Vec::new();
        file.take(MOST * RECORD as u64).read_to_end(&mut bytes)?;
        for record in bytes.chunks_exact(RECORD) {
            if let Some(record) = read_from::<task_record>(record) {
                visit(record.cgroup, record.netns);
            }
        }
        Ok(())
    }
}
