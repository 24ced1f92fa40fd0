//! Where history is kept, and how reports are read from it again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

use crate::collector::decode;
use crate::config::{StoreConfig, StorePlace};
use crate::model::{DropReasons, Record};
use crate::os::log;
use crate::store::{Decode, Evidence, Limits, Opened, Settings, Store};

const FILE: &str = "history.db";

/// The state of services on this host.
const STATE: &str = "/var/lib/hostint";

/// A file below a folder, and the folder.
fn below(folder: impl Into<PathBuf>) -> (PathBuf, PathBuf) {
    let folder = folder.into();
    (folder.join(FILE), folder)
}

/// Where this user's history is if nobody says otherwise: with the state that the service manager gives, else root's,
/// else the user's own.
fn default_place() -> Option<(PathBuf, PathBuf)> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(folders) = given("STATE_DIRECTORY") {
        // Of several the first.
        let first = std::env::split_paths(&folders).next();
        return first.map(below);
    }
    if nix::unistd::geteuid().is_root() {
        return Some(below(STATE));
    }
    if let Some(state) = given("XDG_STATE_HOME") {
        return Some(below(Path::new(&state).join("hostint")));
    }
    given("HOME").map(|home| below(Path::new(&home).join(".local/state/hostint")))
}

/// The history to look at: the one that is named, else this user's, else the host's.
pub(super) fn place_to_read(named: Option<&Path>) -> PathBuf {
    if let Some(named) = named.filter(|named| *named != Path::new("none")) {
        return named.to_owned();
    }
    let own = default_place().map(|(file, _)| file);
    let of_host = below(STATE).0;
    own.filter(|file| file.exists()).unwrap_or(of_host)
}

/// Opens the store that reports are to be kept in, if there is to be one. Where nobody named a file, troubles with it
/// are no reason not to collect.
pub(super) fn open(config: &StoreConfig, from_file: bool) -> Result<Option<Opened>> {
    let path = match &config.place {
        StorePlace::Nowhere => return Ok(None),
        StorePlace::File(path) => {
            return Ok(Some(Opened::open(settings(
                config,
                path.clone(),
                from_file,
            ))?));
        }
        StorePlace::Default if from_file => return Ok(None),
        StorePlace::Default => default_place(),
    };
    let Some((path, folder)) = path else {
        log::warning("no history is kept: no home directory (try --store FILE)");
        return Ok(None);
    };
    let made =
        std::fs::create_dir_all(&folder).map_err(|err| format!("{}: {err}", folder.display()));
    let opened = made.and_then(|()| {
        Opened::open(settings(config, path, from_file)).map_err(|err| err.to_string())
    });
    match opened {
        Ok(opened) => Ok(Some(opened)),
        Err(why) => {
            log::warning(format_args!("no history is kept: {why}"));
            Ok(None)
        }
    }
}

/// Begins to write; behind everything that takes privileges.
pub(super) fn start(opened: Option<Opened>) -> Result<Option<Store>> {
    let start = |opened: Opened| opened.start(Box::new(|trouble| log::warning(trouble)));
    Ok(opened.map(start).transpose()?)
}

/// Writes what is left, and says what was kept and what was not.
pub(super) fn finish(store: Option<Store>) -> Result<()> {
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
    ] {
        if count > 0 {
            line += &format!(", {count} {what}");
        }
    }
    log::info(format_args!("{line}: {}", path.display()));
    // Who reads a file in wants all of it.
    anyhow::ensure!(
        !from_file || counts.drops() == 0,
        "{} reports could not be written to store {}",
        counts.drops(),
        path.display()
    );
    Ok(())
}

fn settings(config: &StoreConfig, path: PathBuf, from_file: bool) -> Settings {
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Settings {
        path,
        limits: Limits {
            raw_ns: ns(config.keep_raw),
            ten_seconds_ns: ns(config.keep_10s),
            minutes_ns: ns(config.keep_1m),
            hours_ns: ns(config.keep_1h),
            bytes: config.bytes,
        },
        queue_bytes: config.queue_bytes,
        most_flows: config.most_flows,
        from_file,
    }
}

/// Reads reports again, with names of drop reasons.
pub(super) fn decoder(reasons: DropReasons) -> Decode {
    Box::new(move |evidence| read_again(evidence, &reasons))
}

fn read_again(evidence: &Evidence<'_>, reasons: &DropReasons) -> Option<Record> {
    if evidence.bytes.first() == Some(&b'{') {
        return Record::read_line(evidence.bytes).ok();
    }
    let group = decode(evidence.bytes).ok()?;
    let report = group.reports.get(evidence.part)?;
    let record = Record::new(report, evidence.arrival);
    Some(record.with_names(reasons).in_class(evidence.class))
}
