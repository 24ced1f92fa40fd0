//! Renewal of many leases at a time by a program in the kernel, which keeps values that packets or commands write into
//! them meanwhile. A second program vouches for flows.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use libbpf_rs::skel::SkelBuilder;

use super::abi::renew_object::RenewSkelBuilder;
use super::abi::{RENEWALS, VOUCHES, flow_key, flow_vouch, lease_renewal, source_flow};
use super::leases::{LeaseEntry, Leases, key_of, value_of};
use super::load::{load_object, program_fd};
use super::maps::Map;
use super::run::run_on;
use crate::model::{AddressPair, FlowKey, Lease, LeaseCounts};

/// The programs, loaded onto one map of leases, and the map of flows that was made with it.
pub struct Renewal {
    program: OwnedFd,
    vouching: OwnedFd,
    leases: Leases,
    map_id: u32,
}

impl Renewal {
    /// Loads the programs onto this map of leases, and this map of flows, if there is one.
    pub fn load(leases: &Leases, flows: Option<&Map<flow_key, source_flow>>) -> io::Result<Self> {
        let mut object = MaybeUninit::uninit();
        let mut open = RenewSkelBuilder::default()
            .open(&mut object)
            .map_err(io::Error::other)?;
        let map = &mut open.maps.source_leases;
        map.reuse_fd(leases.fd()).map_err(io::Error::other)?;
        let map = &mut open.maps.source_leases_serial;
        map.reuse_fd(leases.serial_fd()).map_err(io::Error::other)?;
        let map = &mut open.maps.source_flows;
        let chosen = match flows {
            Some(flows) => map.reuse_fd(flows.fd()),
            None => map.set_max_entries(1),
        };
        chosen.map_err(io::Error::other)?;
        let skel = load_object(open)?;
        Ok(Self {
            vouching: program_fd(&skel.progs.vouch_flows)?,
            program: program_fd(&skel.progs.renew_leases)?,
            leases: leases.share()?,
            map_id: leases.id()?,
        })
    }

    /// True if the program was loaded onto this map.
    pub fn is_for(&self, leases: &Leases) -> io::Result<bool> {
        Ok(leases.id()? == self.map_id)
    }

    /// Leases that were removed meanwhile stay removed. Returns how many were renewed.
    pub fn renew(&self, renewed: &[(AddressPair, Lease)]) -> io::Result<u32> {
        let mut known = 0;
        for lot in renewed.chunks(RENEWALS) {
            let items: Vec<lease_renewal> = lot.iter().map(item_of).collect();
            known += match run_on(&self.program, &items) {
                Err(err) if err.kind() == io::ErrorKind::PermissionDenied => {
                    self.renew_one_by_one(lot)?
                }
                known => known?,
            };
        }
        Ok(known)
    }

    /// The same on a kernel that runs no program at once. What a packet counts between two system calls is not counted.
    fn renew_one_by_one(&self, renewed: &[(AddressPair, Lease)]) -> io::Result<u32> {
        let mut known = 0;
        for (pair, lease) in renewed {
            if let Some(before) = self.leases.get(pair)? {
                let entry = LeaseEntry {
                    lease: *lease,
                    ..before
                };
                self.leases.set(pair, &entry)?;
                known += 1;
            }
        }
        Ok(known)
    }

    /// Vouches for flows until a time of the coarse monotonic clock: their tagged packets arrive, so that repetitions
    /// are loss, and held packets go tagged again. Returns how many of the flows are still known.
    pub fn vouch(&self, vouched: &[(FlowKey, u64)]) -> io::Result<u32> {
        let mut known = 0;
        for lot in vouched.chunks(VOUCHES) {
            let item = |(flow, until_ns): &(FlowKey, u64)| flow_vouch {
                key: flow.into(),
                until_ns: *until_ns,
            };
            let items: Vec<flow_vouch> = lot.iter().map(item).collect();
            known += match run_on(&self.vouching, &items) {
                // Held packets go untagged for longer than they had to.
                Err(err) if err.kind() == io::ErrorKind::PermissionDenied => lot.len() as u32,
                known => known?,
            };
        }
        Ok(known)
    }
}

fn item_of((pair, lease): &(AddressPair, Lease)) -> lease_renewal {
    lease_renewal {
        pair: key_of(pair),
        lease: value_of(&LeaseEntry {
            lease: *lease,
            named: false,
            wanted_ns: 0,
            counts: LeaseCounts::default(),
        }),
    }
}
