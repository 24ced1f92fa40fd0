//! The store of a collector: opened while it has its privileges, written to, and finished.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use super::event_book::OLD_NS;
use super::wall;

use crate::config::{StoreConfig, StorePlace};
use crate::host::advice::surroundings;
use crate::host::history::default_place;
use crate::model::{HostSeen, NetworkEvent, SummaryBases};
use crate::os::log;
use crate::store::{OpenedStore, Store, StoreError, StoreLimits, StoreSettings, host_clock};

/// Opens the store, if there is to be one. If no file was named and the default one cannot be written to, the collector
/// goes on without it; but not if another collector writes to it, for which this one is started by mistake.
pub fn open(config: &StoreConfig, from_file: bool) -> Result<Option<OpenedStore>> {
    let place = match &config.place {
        StorePlace::Nowhere => return Ok(None),
        StorePlace::File(path) => {
            return Ok(Some(OpenedStore::open(settings(
                config,
                path.clone(),
                from_file,
            ))?));
        }
        StorePlace::Default if from_file => return Ok(None),
        StorePlace::Default => default_place(),
    };
    let Some(place) = place else {
        log::warning("no history is kept: no home directory (try --store FILE)");
        return Ok(None);
    };
    if let Err(err) = std::fs::create_dir_all(&place.folder) {
        let folder = place.folder.display();
        log::warning(format_args!("no history is kept: {folder}: {err}"));
        return Ok(None);
    }
    match OpenedStore::open(settings(config, place.file, from_file)) {
        Ok(opened) => Ok(Some(opened)),
        Err(err @ StoreError::Locked { .. }) => Err(err.into()),
        Err(err) => {
            let give = surroundings().give_folder(&place.folder.display().to_string());
            let advice = give.map_or_else(String::new, |give| format!(" (try {give})"));
            log::warning(format_args!("no history is kept: {err}{advice}"));
            Ok(None)
        }
    }
}

/// What an earlier run left: the hosts that it saw, last totals, and events of late.
pub fn kept(store: &mut OpenedStore) -> (Vec<HostSeen>, SummaryBases, Vec<NetworkEvent>) {
    let old_ns = wall::now_ns().saturating_sub(OLD_NS);
    (store.hosts(), store.take_bases(), store.events(old_ns))
}

/// Begins to write, by a thread that has the privileges of the caller.
pub fn start(opened: Option<OpenedStore>) -> Result<Option<Store>> {
    let start = |opened: OpenedStore| opened.start(Box::new(|trouble| log::warning(trouble)));
    Ok(opened.map(start).transpose()?)
}

/// Writes the reports that are left, and says how many were stored and how many were not.
pub fn finish(store: Option<Store>) -> Result<()> {
    let Some(store) = store else {
        return Ok(());
    };
    let (counts, path, from_file) = (store.counts(), store.path().to_owned(), store.from_file());
    drop(store);
    let mut line = format!("{} reports stored", counts.stored());
    for (count, what) in [
        (
            counts.rolled_up_only(),
            "in its figures only, because more came than could be written singly",
        ),
        (
            counts.drops(),
            "not, because the store was too slow or could not be written",
        ),
        (
            counts.beyond_flows(),
            "without their flow: more are not followed (--store-flows)",
        ),
        (
            counts.told_drops(),
            "times reported of paths or coverage not, because more came at once than is added up",
        ),
    ] {
        if count > 0 {
            line += &format!(", {count} {what}");
        }
    }
    log::info(format_args!("{line}: {}", path.display()));
    // A file that is read in has to be stored whole.
    anyhow::ensure!(
        !from_file || counts.drops() == 0,
        "{} reports could not be written to store {}",
        counts.drops(),
        path.display()
    );
    Ok(())
}

fn settings(config: &StoreConfig, path: PathBuf, from_file: bool) -> StoreSettings {
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    StoreSettings {
        path,
        limits: StoreLimits {
            raw_ns: ns(config.keep_raw),
            ten_seconds_ns: ns(config.keep_10s),
            minutes_ns: ns(config.keep_1m),
            hours_ns: ns(config.keep_1h),
            bytes: config.bytes,
        },
        queue_bytes: config.queue_bytes,
        most_flows: config.most_flows,
        from_file,
        clock: match from_file {
            true => host_clock,
            false => wall::time,
        },
    }
}
