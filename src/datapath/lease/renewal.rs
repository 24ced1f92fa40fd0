//! Renewal of many leases at a time by a program in the kernel, which keeps values that packets or commands write into
//! them meanwhile.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use libbpf_rs::skel::SkelBuilder;

use super::leases::{LeaseEntry, Leases, key_of, value_of};
use crate::datapath::abi::renew_object::RenewSkelBuilder;
use crate::datapath::abi::{RENEWALS, lease_renewal};
use crate::datapath::kernel::load::{choose, chosen_fd, load_object};
use crate::datapath::kernel::probe::Features;
use crate::datapath::kernel::run::run_on;
use crate::model::{AddressPair, Lease, LeaseCounts};

/// The program, loaded onto one map of leases.
pub struct Renewal {
    program: OwnedFd,
    leases: Leases,
}

impl Renewal {
    pub fn load(leases: &Leases) -> io::Result<Self> {
        let mut object = MaybeUninit::uninit();
        let mut open = RenewSkelBuilder::default()
            .open(&mut object)
            .map_err(io::Error::other)?;
        let map = &mut open.maps.source_leases;
        map.reuse_fd(leases.fd()).map_err(io::Error::other)?;
        let map = &mut open.maps.source_leases_serial;
        map.reuse_fd(leases.serial_fd()).map_err(io::Error::other)?;
        let features = Features::probe();
        let programs = &mut open.progs;
        choose(
            features,
            &mut programs.renew_leases,
            &mut programs.renew_leases_locked,
        );
        let skel = load_object(open)?;
        let programs = &skel.progs;
        Ok(Self {
            program: chosen_fd(
                features,
                &programs.renew_leases,
                &programs.renew_leases_locked,
            )?,
            leases: leases.share(),
        })
    }

    /// True if the program was loaded onto this map.
    pub fn is_for(&self, leases: &Leases) -> bool {
        self.leases.is_same(leases)
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
