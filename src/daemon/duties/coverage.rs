//! Tells collectors how many watched packets this host's source tagged, and why it did not tag others, by the sink's node and
//! class.

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::daemon::duty::Duty;
use crate::daemon::on_host::OnHost;
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::source::missed::{MissedKey, MissedTable};
use crate::datapath::watch::Watchlist;
use crate::model::class_number;
use crate::model::coverage::{CoverageReport, MissedPackets, MissedReason, PairEnd};
use crate::model::missed_tally::MissedTally;
use crate::os::clock;

const PERIOD_S: u16 = 10;

/// The duty to do so.
pub struct SendCoverage {
    tally: MissedTally<MissedKey>,
    epoch_ns: u64,
    /// The table that was read last.
    table: Option<u32>,
    classes: ClassNames,
}

/// The names of the classes of a watchlist.
#[derive(Default)]
struct ClassNames {
    serial: Option<u32>,
    by_number: HashMap<u32, String>,
    /// Those that the budget does not concern.
    always: HashSet<u32>,
}

impl ClassNames {
    /// Reads them again if the list changed. Classes of rules that are gone keep their names.
    fn follow(&mut self, pins: &Pins) -> io::Result<()> {
        let Some(list) = Watchlist::open(pins)? else {
            return Ok(());
        };
        let serial = list.serial()?;
        if self.serial != Some(serial) {
            self.always.clear();
            for rule in list.rules()? {
                let Some(class) = rule.class else { continue };
                let number = class_number(&class);
                self.by_number.insert(number, class);
                if rule.always {
                    self.always.insert(number);
                }
            }
            self.serial = Some(serial);
        }
        Ok(())
    }
}

impl SendCoverage {
    pub fn new() -> Self {
        Self {
            tally: MissedTally::default(),
            epoch_ns: clock::realtime_ns(),
            table: None,
            classes: ClassNames::default(),
        }
    }

    /// Returns the counts that are to be reported; the budget lets one flow in two to the power of `shift` be measured.
    fn read(&mut self, pins: &Pins, shift: u32) -> io::Result<Vec<MissedPackets>> {
        let Some(table) = MissedTable::open(pins)? else {
            return Ok(self.tally.end_turn());
        };
        self.classes.follow(pins)?;
        let id = table.id()?;
        if self.table.replace(id) != Some(id) {
            self.tally.change_table();
        }
        let (tally, classes) = (&mut self.tally, &self.classes);
        let mut failed = None;
        table.for_each(|key, counts| {
            let flows = || match classes.always.contains(&key.class) {
                true => 1,
                false => 1 << shift.max(table.asked_shift(&key).unwrap_or_default()),
            };
            tally.add(key, counts, flows, MissedReason::Source, || {
                let sink = table.sink_of(&key).unwrap_or_else(|err| {
                    failed = Some(err);
                    None
                });
                (
                    PairEnd::ToSink(sink),
                    classes.by_number.get(&key.class).cloned(),
                )
            });
        })?;
        let reported = tally.end_turn();
        // A packet that is counted at the moment of a removal is lost to these counts.
        if table.is_nearly_full(tally.entries()) {
            for key in tally.idle() {
                table.remove(&key)?;
            }
        }
        failed.map_or(Ok(reported), Err)
    }
}

impl<D: ReportsToCollectors + OnHost> Duty<D> for SendCoverage {
    fn task(&self) -> &'static str {
        "report to collectors which packets were tagged and which were not"
    }

    fn period(&self, _daemon: &D) -> Duration {
        Duration::from_secs(PERIOD_S.into())
    }

    fn turn(&mut self, daemon: &mut D, _now: Instant) -> Result<()> {
        if !daemon.sends_extended() {
            return Ok(());
        }
        let missed = self.read(daemon.pins(), daemon.host().share_shift()?)?;
        if missed.is_empty() {
            return Ok(());
        }
        let report = CoverageReport {
            node: daemon.node()?,
            period_s: PERIOD_S,
            epoch_ns: self.epoch_ns,
            missed,
        };
        let time_s = (clock::realtime_ns() / 1_000_000_000) as u32;
        daemon.emitter().send_coverage(&report, time_s);
        Ok(())
    }

    fn finish(&mut self, daemon: &mut D) -> Result<()> {
        self.turn(daemon, Instant::now())
    }
}
