//! Lets the stack make room for INT in segments of connections in options.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::daemon::duty::Duty;
use crate::daemon::on_host::OnHost;
use crate::datapath::lease::leases::Leases;
use crate::datapath::tcp::option_room::OptionRoom;
use crate::host::advice::warn_of_own_cgroup;
use crate::model::AddressPair;
use crate::os::cgroup;

const PERIOD: Duration = Duration::from_millis(600);

/// The duty to make room while a source wants some.
#[derive(Default)]
pub struct MakeOptionRoom {
    room: Option<OptionRoom>,
    /// Why there is none, which stays so: it is not tried again until another source wants room.
    refusal: Option<String>,
    /// The pairs whose connections were looked for, and the share of them: one in two to the power of this.
    adopted: BTreeMap<AddressPair, u32>,
}

impl MakeOptionRoom {
    fn attach<D: OnHost>(&mut self, daemon: &mut D) -> Result<()> {
        let folder = cgroup::root().context(
            "no cgroup2 file system can be seen here (try mount -t cgroup2 none /sys/fs/cgroup, or attach the source with \
             another --encap)",
        )?;
        warn_of_own_cgroup(&folder);
        let (room, found) = OptionRoom::attach(daemon.pins(), &folder)?;
        daemon.host().note_parts(found)?;
        self.room = Some(room);
        Ok(())
    }
}

impl<D: OnHost> Duty<D> for MakeOptionRoom {
    fn task(&self) -> &'static str {
        "make room for INT in segments of TCP"
    }

    fn period(&self, _daemon: &D) -> Duration {
        PERIOD
    }

    fn turn(&mut self, daemon: &mut D, _now: Instant) -> Result<()> {
        if !OptionRoom::is_wanted(daemon.pins())? {
            *self = Self::default();
            return Ok(());
        }
        if self.room.is_none() && self.refusal.is_none() {
            self.refusal = self.attach(daemon).err().map(|err| format!("{err:#}"));
        }
        if let Some(refusal) = &self.refusal {
            bail!("{refusal}");
        }
        let (Some(room), Some(leases)) = (&self.room, Leases::open(daemon.pins())?) else {
            return Ok(());
        };
        let (for_all, own) = (room.is_for_all()?, daemon.host().share_shift()?);
        let pairs = leases.with_tcp_option()?.into_iter();
        let shares: BTreeMap<_, _> = pairs
            .map(|(pair, asked)| (pair, if for_all { 0 } else { own.max(asked) }))
            .collect();
        let adopted = &self.adopted;
        let is_more =
            |(pair, shift): (_, &u32)| adopted.get(pair).is_none_or(|before| shift < before);
        if shares.iter().any(is_more) {
            room.adopt()?;
        }
        self.adopted = shares;
        Ok(())
    }
}
