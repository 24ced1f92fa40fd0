//! The file of the history that a collector on this host keeps.

use std::path::{Path, PathBuf};

const FILE: &str = "history.db";

/// The folder of the host's collector.
pub const STATE: &str = "/var/lib/hostint";

/// The variable in which a service manager names the folder for state.
pub const STATE_VARIABLE: &str = "STATE_DIRECTORY";

/// A file, and the folder that it is in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HistoryPlace {
    pub file: PathBuf,
    pub folder: PathBuf,
}

impl HistoryPlace {
    fn in_folder(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self {
            file: folder.join(FILE),
            folder,
        }
    }
}

/// The default place of this user's history: the state that the service manager gives, else root's, else the user's
/// own.
pub fn default_place() -> Option<HistoryPlace> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(folders) = variable(STATE_VARIABLE) {
        // The service manager may name several; the first is ours.
        let first = std::env::split_paths(&folders).next();
        return first.map(HistoryPlace::in_folder);
    }
    if nix::unistd::geteuid().is_root() {
        return Some(HistoryPlace::in_folder(STATE));
    }
    if let Some(state) = variable("XDG_STATE_HOME") {
        return Some(HistoryPlace::in_folder(Path::new(&state).join("hostint")));
    }
    variable("HOME")
        .map(|home| HistoryPlace::in_folder(Path::new(&home).join(".local/state/hostint")))
}

/// The history to read: the one that is named, else this user's, else the host's.
pub fn place_to_read(named: Option<&Path>) -> PathBuf {
    if let Some(named) = named.filter(|named| *named != Path::new("none")) {
        return named.to_owned();
    }
    default_place()
        .map(|place| place.file)
        .filter(|file| file.exists())
        .unwrap_or_else(|| HistoryPlace::in_folder(STATE).file)
}
