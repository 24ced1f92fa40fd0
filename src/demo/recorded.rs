//! The demo without privileges: a collector reads recorded reports of six hosts into a history, and shows it.

use std::fs::{File, remove_dir_all};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use nix::fcntl::{Flock, FlockArg};
use nix::unistd::mkdtemp;

use super::recording;
use super::roles::DemoRoles;
use super::session::{print, say, stay, stays};
use crate::cli::{DemoArgs, exit};
use crate::os::signals;

/// How names of the demo's folders begin.
const FOLDERS: &str = "hostint-demo-";

/// Questions to the history, and what they show.
const QUESTIONS: [(&str, &str); 5] = [
    (
        "history pairs",
        "all pairs of hosts: which of them loses packets?",
    ),
    (
        "history path --from web1 --to db1",
        "where those packets are lost, and where they wait",
    ),
    ("history drops --by node", "which host dropped them"),
    ("history tcp", "what limits the connections"),
    ("history reports --limit 10", "the reports themselves"),
];

/// Shows the recorded network, and returns the exit code.
pub fn run(args: &DemoArgs) -> Result<u8> {
    signals::install(signals::Hangup::Ends).context("cannot handle signals")?;
    let folder = DemoFolder::make()?;
    let capture =
        recording::moved_to(SystemTime::now()).context("cannot read the recorded reports")?;
    let file = folder.path.join("six-hosts.pcap");
    std::fs::write(&file, &capture.bytes)
        .with_context(|| format!("cannot write {}", file.display()))?;
    let date = humantime::format_rfc3339_seconds(capture.recorded).to_string();
    let date = date.split('T').next().unwrap_or_default();
    say(&format!(
        "six hosts and two routers, recorded on {date}; times are shown as if it had ended just now"
    ));
    let mut roles = DemoRoles::new(&folder.path);
    roles.run(
        None,
        "collect --read six-hosts.pcap --store history.db --output /dev/null",
    )?;
    let stays = stays(args);
    let page = start_page(&mut roles, stays)?;
    let pairs = roles.run(None, "history pairs --store history.db")?;
    pairs.lines().for_each(print);
    if let Some(page) = page {
        offer(&page, &folder.path);
        stay(stays, || roles.check())?;
    }
    Ok(exit::OK)
}

/// Starts a collector that shows the history, if there is time to look at it, and returns where.
fn start_page(roles: &mut DemoRoles, stays: Duration) -> Result<Option<String>> {
    if stays.is_zero() {
        return Ok(None);
    }
    let collect =
        "collect --listen 127.0.0.1:0 --store history.db --http 127.0.0.1:0 --output /dev/null";
    roles.start("the collector", None, (collect, "serving http://"), drop)?;
    roles.await_ready()?;
    let address = roles.printed_behind("serving http://");
    Ok(address.map(|address| format!("http://{address}/")))
}

/// Tells what to look at meanwhile.
fn offer(page: &str, folder: &Path) {
    let program = std::env::args().next().unwrap_or_default();
    let store = folder.join("history.db");
    say("questions to this history, in another terminal");
    for (question, shows) in QUESTIONS {
        print(&format!(
            "{program} {question} --store {}   # {shows}",
            store.display()
        ));
    }
    say(&format!(
        "the collector's page: {page} (Ctrl-C ends the demo)"
    ));
}

/// A folder for the history, which is locked while its demo runs.
struct DemoFolder {
    path: PathBuf,
    _lock: Flock<File>,
}

impl DemoFolder {
    /// Makes the folder, and removes those of demos that were killed.
    fn make() -> Result<Self> {
        let all = std::env::temp_dir();
        remove_left(&all);
        let made = (|| {
            let path = mkdtemp(&all.join(format!("{FOLDERS}XXXXXX")))?;
            let lock = lock(&path)?;
            Ok::<_, nix::Error>(Self { path, _lock: lock })
        })();
        made.with_context(|| format!("cannot make a folder for the history in {}", all.display()))
    }
}

impl Drop for DemoFolder {
    fn drop(&mut self) {
        let _ = remove_dir_all(&self.path);
    }
}

fn lock(folder: &Path) -> nix::Result<Flock<File>> {
    let opened = File::open(folder).map_err(|_| nix::Error::ENOENT)?;
    Flock::lock(opened, FlockArg::LockExclusiveNonblock).map_err(|(_, err)| err)
}

fn remove_left(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(FOLDERS));
        // Other users' folders cannot be opened.
        if is_ours && let Ok(_lock) = lock(&entry.path()) {
            let _ = remove_dir_all(entry.path());
        }
    }
}
