//! The reasons why a store cannot be used, with what to try.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// The reason why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot open store {}: {why}", path.display())]
    Open { path: PathBuf, why: String },
    #[error("no store at {}", .0.display())]
    Absent(PathBuf),
    #[error(
        "cannot write to store {}: process {pid} writes to it (only one collector may; try another --store, or \
         --store none)",
        path.display()
    )]
    Locked { path: PathBuf, pid: String },
    #[error(
        "store {} was replaced by another file, which is left as it is (start the collector again to use it)",
        .0.display()
    )]
    Replaced(PathBuf),
    #[error(
        "cannot use {} as a store: it is something else, and is left as it is (try another --store)",
        .0.display()
    )]
    Foreign(PathBuf),
    #[error(
        "cannot use store {}: {} hostint wrote it (schema {found}, this one knows {known} only; it is left as it \
         is: use that version, move the file away, or try another --store)",
        path.display(),
        if found > known { "a newer" } else { "an older" }
    )]
    OtherSchema {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    #[error(
        "cannot use store {}: {why} (it is left as it is; move it away, or try another --store)",
        path.display()
    )]
    Damaged { path: PathBuf, why: String },
}

impl StoreError {
    /// Says what to try against an error of the file system.
    pub(super) fn of_file(path: &Path, err: &io::Error) -> Self {
        let advice = match err.kind() {
            io::ErrorKind::NotFound => {
                " (there is no such folder: make it, or try another --store)"
            }
            io::ErrorKind::PermissionDenied => " (try as the user who owns it, or another --store)",
            _ => "",
        };
        Self::Open {
            path: path.to_owned(),
            why: format!("{err}{advice}"),
        }
    }

    /// Names the reason of an error of SQLite while a file was opened.
    pub(super) fn of(path: &Path, err: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        match err.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::Foreign(path),
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged {
                path,
                why: err.to_string(),
            },
            _ => Self::Open {
                path,
                why: err.to_string(),
            },
        }
    }
}
