//! The store's file: its lock, its tables, and the versions of its schema.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::unistd::{AccessFlags, access};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::schema;
use super::store_error::StoreError;

/// The longest time that a statement waits for another process.
const PATIENCE: Duration = Duration::from_secs(5);

/// The pages of the write-ahead log, 16 MiB, after which it is written back.
const LOG_PAGES: i64 = 4096;

/// The identity of a file, which another file of the same name does not have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Returns `None` if there is no such file.
    pub fn of(path: &Path) -> Option<Self> {
        let found = std::fs::metadata(path).ok()?;
        Some(Self {
            device: found.dev(),
            inode: found.ino(),
        })
    }
}

/// The right to write to a store, until it is dropped.
#[derive(Debug)]
pub struct StoreLock {
    _file: Flock<File>,
    id: Option<FileId>,
}

/// Returns the path of a file that belongs to the store: `.lock`, `-wal`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Locks a store. The lock is a file of its own: SQLite's locks are lost when this process closes another descriptor of
/// the database.
fn lock(path: &Path) -> Result<StoreLock, StoreError> {
    let name = beside(path, ".lock");
    let failed = |err: io::Error| StoreError::of_file(path, &err);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o640)
        .open(&name)
        .map_err(failed)?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(mut file) => {
            let pid = format!("{}\n", std::process::id());
            // The process id is only for messages, so it does not matter if the disk is full.
            let _ = file
                .set_len(0)
                .and_then(|()| file.rewind())
                .and_then(|()| file.write_all(pid.as_bytes()));
            Ok(StoreLock {
                _file: file,
                id: FileId::of(&name),
            })
        }
        Err((mut file, Errno::EWOULDBLOCK)) => {
            let mut pid = String::new();
            let _ = file.rewind().and_then(|()| file.read_to_string(&mut pid));
            let pid = match pid.trim() {
                "" => "another".to_owned(),
                pid => pid.to_owned(),
            };
            let path = path.to_owned();
            Err(StoreError::Locked { path, pid })
        }
        Err((_, errno)) => Err(failed(errno.into())),
    }
}

/// Returns the time when a store was last written to, by the clock of its host; `None` if there is none.
pub fn written_ns(path: &Path) -> Option<u64> {
    let modified = |path: &Path| -> Option<u64> {
        let time = std::fs::metadata(path).ok()?.modified().ok()?;
        let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
        u64::try_from(since.as_nanos()).ok()
    };
    let file_ns = modified(path)?;
    Some(file_ns.max(modified(&beside(path, "-wal")).unwrap_or(0)))
}

/// Opens a store for writing, and makes it if there is none.
pub fn open(path: &Path) -> Result<(Connection, StoreLock), StoreError> {
    // What is refused is left as it is, and has no files beside it that it did not have.
    let new = absent_beside(path);
    let lock = lock(path)?;
    match open_locked(path) {
        Ok(conn) => Ok((conn, lock)),
        Err(err) => {
            remove_made(path, new);
            Err(err)
        }
    }
}

/// Makes a store that was removed while it was open anew. `old` may still be read by others.
pub fn make_anew(
    path: &Path,
    old: &Connection,
    lock: &mut StoreLock,
) -> Result<Connection, StoreError> {
    // It may have been moved away rather than deleted: then it is left whole, and nothing of it is left here.
    let _ = old.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    let failed = |err: rusqlite::Error| StoreError::of(path, &err);
    old.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .map_err(failed)?;
    if FileId::of(&beside(path, ".lock")) != lock.id {
        *lock = self::lock(path)?;
    }
    if path.exists() {
        return Err(StoreError::Replaced(path.to_owned()));
    }
    remove_beside(path);
    open_locked(path).inspect_err(|_| {
        // The part of a store that was just written is not a store of the user.
        let _ = std::fs::remove_file(path);
        remove_beside(path);
    })
}

/// The files that belong to a store and that there are not.
fn absent_beside(path: &Path) -> Vec<PathBuf> {
    let each = ["-wal", "-shm", ".lock"].map(|suffix| beside(path, suffix));
    each.into_iter().filter(|file| !file.exists()).collect()
}

/// Removes the files that opening a store made, unless another program has begun to use them.
fn remove_made(path: &Path, files: Vec<PathBuf>) {
    let log = std::fs::metadata(beside(path, "-wal"));
    let is_used = log.is_ok_and(|log| log.len() > 0);
    let lock = beside(path, ".lock");
    for file in files {
        if file == lock || !is_used {
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Removes the files that SQLite makes beside a database.
fn remove_beside(path: &Path) {
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(beside(path, suffix));
    }
}

fn open_locked(path: &Path) -> Result<Connection, StoreError> {
    // Reports quote packets, so not all users may read them. SQLite gives its other files the same mode.
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o640)
        .open(path);
    match made {
        // Its close would drop the locks of this process on the file, so it comes before SQLite locks it.
        Ok(made) => drop(made),
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
        Err(err) => return Err(StoreError::of_file(path, &err)),
    }
    no_device(path)?;
    // SQLite only says that it is unable to. Opening it here would drop the locks of a collector in this process.
    if let Err(errno @ Errno::EACCES) = access(path, AccessFlags::R_OK) {
        return Err(StoreError::of_file(path, &errno.into()));
    }
    let failed = |err: rusqlite::Error| StoreError::of(path, &err);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags).map_err(failed)?;
    conn.busy_timeout(PATIENCE).map_err(failed)?;
    // A file that is refused may have a log that its program still needs.
    let keep_log = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    conn.set_db_config(keep_log, true).map_err(failed)?;
    schema::prepare_to_write(&mut conn, path)?;
    conn.set_db_config(keep_log, false).map_err(failed)?;
    conn.set_prepared_statement_cache_capacity(128);
    tune(&conn).map_err(failed)?;
    Ok(conn)
}

/// Refuses FIFOs, which would block, and devices.
fn no_device(path: &Path) -> Result<(), StoreError> {
    let regular = std::fs::metadata(path).is_ok_and(|found| {
        let kind = found.file_type();
        !(kind.is_fifo() || kind.is_char_device() || kind.is_block_device() || kind.is_socket())
    });
    if regular {
        Ok(())
    } else {
        Err(StoreError::Foreign(path.to_owned()))
    }
}

/// Opens a store for reading. Another process may be writing to it.
pub fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    match std::fs::metadata(path) {
        Ok(_) => no_device(path)?,
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::Absent(path.to_owned()));
        }
        Err(err) => {
            return Err(StoreError::of_file(path, &err));
        }
    }
    let failed = |err: rusqlite::Error| StoreError::of(path, &err);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |conn: rusqlite::Result<Connection>| {
        let conn = conn.map_err(failed)?;
        conn.busy_timeout(PATIENCE).map_err(failed)?;
        schema::prepare_to_read(&conn, path)?;
        Ok(conn)
    };
    let new = absent_beside(path);
    let asked = open(Connection::open_with_flags(path, flags));
    // A collector may be making the store just now.
    let is_refused = matches!(
        asked,
        Err(StoreError::Foreign(_) | StoreError::Damaged { .. } | StoreError::OtherSchema { .. })
    );
    if is_refused && !beside(path, ".lock").exists() {
        remove_made(path, new);
    }
    if matches!(asked, Err(StoreError::Open { .. })) && !beside(path, "-wal").exists() {
        // No process writes to it, and this user may not make the files that a live database needs.
        let uri = format!("file:{}?immutable=1", escaped(path));
        return open(Connection::open_with_flags(
            uri,
            flags | OpenFlags::SQLITE_OPEN_URI,
        ));
    }
    asked
}

/// Escapes a path for a URI.
fn escaped(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str()
        .as_bytes()
        .iter()
        .map(|byte| match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                char::from(*byte).to_string()
            }
            other => format!("%{other:02x}"),
        })
        .collect()
}

/// Sets up a connection for writing. It also writes a row, so that the files beside the database are made before
/// privileges are given up.
fn tune(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = NORMAL;
         PRAGMA cache_size = -65536;
         PRAGMA temp_store = MEMORY;
         PRAGMA journal_size_limit = 67108864;
         INSERT OR IGNORE INTO fact VALUES ('rolled_ns', 0), ('newest_ns', 0);",
    )?;
    conn.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)
}
