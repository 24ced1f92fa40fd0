//! The places where a host's maps and links are pinned: one folder for each network namespace.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::datapath::abi::ABI_VERSION;
use crate::model::PlainError;
use crate::os::{log, netns};

/// The folder of links, which all versions share.
const LINKS: &str = "links";

/// A lock that is held no longer than this is that of a process which looks whether a daemon runs.
const LOOKING: Duration = Duration::from_millis(200);

/// The folder of a version's maps.
fn maps_of(version: u32) -> String {
    match version {
        1 => "maps".to_owned(),
        _ => format!("maps-v{version}"),
    }
}

/// The right to serve this host, or to change what is attached on it.
pub type PinsLock = Flock<File>;

/// The pins of this host, which is a network namespace.
#[derive(Clone, Debug)]
pub struct Pins {
    folder: PathBuf,
    /// The BPF file system as other processes find it, and its device.
    root: PathBuf,
    device: u64,
}

impl Pins {
    /// Finds the pins of this process's network namespace, below `bpffs` or the system's BPF file system. With
    /// `create`, missing folders are made; without it, `None` means that there are no pins.
    pub fn of_this_host(bpffs: Option<&Path>, create: bool) -> io::Result<Option<Self>> {
        let root = match bpffs {
            Some(path) if netns::is_bpffs(path) => path.to_owned(),
            Some(path) => {
                return Err(io::Error::new(
                    io::ErrorKind::NotADirectory,
                    format!(
                        "{0} is no BPF file system (try: mount -t bpf -o mode=700 bpf {0})",
                        path.display()
                    ),
                ));
            }
            None => match netns::bpffs(create)? {
                Some(path) => path,
                None => return Ok(None),
            },
        };
        let device = fs::metadata(&root)?.dev();
        // A daemon keeps its pins even if the file system is unmounted or covered.
        let held = if create {
            netns::hold(&root)?
        } else {
            root.clone()
        };
        let ours = held.join("hostint");
        let folder = ours.join(netns::id()?.to_string());
        for below in [&ours, &folder] {
            check_owner(&held, below)?;
        }
        if create {
            fs::create_dir_all(folder.join(maps_of(ABI_VERSION)))
                .and_then(|()| fs::create_dir_all(folder.join(LINKS)))
                .map_err(|err| at(&root, &err))?;
        } else if !folder.try_exists()? {
            return Ok(None);
        }
        log::debug(|| format!("this host's pins are in {}", folder.display()));
        Ok(Some(Self {
            folder,
            root,
            device,
        }))
    }

    /// Checks that other processes still find these pins.
    ///
    /// # Errors
    /// Their file system was unmounted, or another one was mounted over it.
    pub fn check_visible(&self) -> io::Result<()> {
        let there = fs::metadata(&self.root).is_ok_and(|found| found.dev() == self.device);
        if there && netns::is_bpffs(&self.root) {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "the BPF file system at {} was unmounted, or another was mounted over it: other commands do not see what \
             is attached, and it ends with this daemon (mount it again, then restart the daemon)",
            self.root.display()
        )))
    }

    /// Returns the path at which a map is, or would be, pinned.
    pub fn map(&self, name: &str) -> PathBuf {
        self.folder.join(maps_of(ABI_VERSION)).join(name)
    }

    /// Returns the folders of maps of other versions of hostint, which share the folder of links with this one.
    pub fn other_versions(&self) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        let entries = match fs::read_dir(&self.folder) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(found),
            entries => entries?,
        };
        for entry in entries {
            let name = entry?.file_name();
            if name != LINKS && name != *maps_of(ABI_VERSION) {
                found.push(self.folder.join(name));
            }
        }
        found.sort();
        Ok(found)
    }

    /// Returns the path at which the link of a role on an interface is, or would be, pinned.
    pub fn link(&self, role: &str, dev: &str) -> PathBuf {
        // A BPF file system refuses names with a dot.
        self.folder
            .join(LINKS)
            .join(format!("{role}@{}", dev.replace('.', "%2e")))
    }

    /// Returns the role and the interface of each pinned link.
    pub fn links(&self) -> io::Result<Vec<(String, String)>> {
        let mut found = Vec::new();
        let entries = match fs::read_dir(self.folder.join(LINKS)) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(found),
            entries => entries?,
        };
        for entry in entries {
            let name = entry?.file_name();
            if let Some((role, dev)) = name.to_string_lossy().split_once('@') {
                found.push((role.to_owned(), dev.replace("%2e", ".")));
            }
        }
        found.sort();
        Ok(found)
    }

    /// Keeps other daemons from serving this host while the result lives; the kernel releases the lock even if the
    /// process is killed. Returns `None` if another daemon serves this host already.
    pub fn lock(&self) -> io::Result<Option<PinsLock>> {
        lock(&self.folder)
    }

    /// The same among daemons of the transit hop, which run beside those of sink and source.
    pub fn lock_transit(&self) -> io::Result<Option<PinsLock>> {
        lock(&self.folder.join(maps_of(ABI_VERSION)))
    }

    /// Returns whether a daemon serves this host. The look takes the daemon's lock for a moment if none holds it.
    pub fn is_served(&self) -> io::Result<bool> {
        let folder = File::open(&self.folder)?;
        match Flock::lock(folder, FlockArg::LockSharedNonblock) {
            Ok(_) => Ok(false),
            Err((_, Errno::EWOULDBLOCK)) => Ok(true),
            Err((_, err)) => Err(err.into()),
        }
    }

    /// Keeps other processes from attaching and detaching here while the result lives.
    pub fn change(&self) -> io::Result<PinsLock> {
        let links = self.folder.join(LINKS);
        fs::create_dir_all(&links)?;
        Flock::lock(File::open(links)?, FlockArg::LockExclusive).map_err(|(_, err)| err.into())
    }

    /// The same without waiting: returns `None` if another process is attaching or detaching.
    pub fn try_change(&self) -> io::Result<Option<PinsLock>> {
        let folder = match File::open(self.folder.join(LINKS)) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
            folder => folder?,
        };
        match Flock::lock(folder, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => Ok(Some(lock)),
            Err((_, Errno::EWOULDBLOCK)) => Ok(None),
            Err((_, err)) => Err(err.into()),
        }
    }

    /// True if nothing is attached on this host: even the folder for links is gone.
    pub fn are_gone(&self) -> bool {
        !self.folder.join(LINKS).exists()
    }

    /// Renames a link's pin after its interface was renamed.
    pub fn rename_link(&self, role: &str, from: &str, to: &str) -> io::Result<()> {
        match fs::rename(self.link(role, from), self.link(role, to)) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }

    /// Removes the pins of these maps, in all versions, then the folders that are empty.
    pub fn remove_maps(&self, names: &[&str]) -> io::Result<()> {
        let others = self.other_versions()?;
        for name in names {
            remove(&self.map(name))?;
            for folder in &others {
                remove(&folder.join(name))?;
            }
        }
        self.remove_folder_if_empty();
        Ok(())
    }

    /// Removes folders without pins.
    pub fn remove_folder_if_empty(&self) {
        for folder in [LINKS.to_owned(), maps_of(ABI_VERSION)] {
            let _ = fs::remove_dir(self.folder.join(folder));
        }
        self.remove_empty_versions();
        let _ = fs::remove_dir(&self.folder);
        if let Some(parent) = self.folder.parent() {
            let _ = fs::remove_dir(parent);
        }
    }

    /// Removes folders of other versions that have no pins.
    pub fn remove_empty_versions(&self) {
        for folder in self.other_versions().unwrap_or_default() {
            let _ = fs::remove_dir(folder);
        }
    }

    /// Returns the folder of this host's pins.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the folders of other hosts' pins in the same file system, with the ids of their network namespaces.
    pub fn of_other_hosts(&self) -> io::Result<Vec<(u64, PathBuf)>> {
        let Some(ours) = self.folder.parent() else {
            return Ok(Vec::new());
        };
        let folders = fs::read_dir(ours)?.flatten().map(|entry| entry.path());
        let id = |path: &PathBuf| path.file_name()?.to_str()?.parse().ok();
        Ok(folders
            .filter(|folder| *folder != self.folder)
            .filter_map(|folder| id(&folder).map(|id| (id, folder)))
            .collect())
    }
}

/// Takes the lock of a folder, unless another process holds it for longer than for a look.
fn lock(folder: &Path) -> io::Result<Option<PinsLock>> {
    let end = Instant::now() + LOOKING;
    loop {
        match Flock::lock(File::open(folder)?, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(Some(lock)),
            Err((_, Errno::EWOULDBLOCK)) if Instant::now() < end => thread::sleep(LOOKING / 10),
            Err((_, Errno::EWOULDBLOCK)) => return Ok(None),
            Err((_, err)) => return Err(err.into()),
        }
    }
}

/// Refuses a folder of another user in a BPF file system that every user may write to: it may be a trap.
fn check_owner(root: &Path, folder: &Path) -> io::Result<()> {
    const OTHERS_WRITE: u32 = 0o022;
    let found = match fs::metadata(folder) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let known = [0, nix::unistd::geteuid().as_raw()].contains(&found.uid());
    if known || fs::metadata(root)?.mode() & OTHERS_WRITE == 0 {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "{} belongs to user {}, and every user may make folders there (remove it, and chmod 700 {})",
        folder.display(),
        found.uid(),
        root.display()
    )))
}

/// Names the BPF file system in which nothing could be made, and the reason if it is read-only.
fn at(root: &Path, err: &io::Error) -> io::Error {
    let path = root.display();
    let text = match err.raw_os_error() {
        Some(nix::libc::EROFS) => {
            format!("{path} is mounted read-only (try: mount -o remount,rw {path})")
        }
        _ => format!("{path}: {}", PlainError(err)),
    };
    io::Error::new(err.kind(), text)
}

/// Removes a pin, if there is one.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(err) => Err(err),
        Ok(()) => {
            log::debug(|| format!("removed the pin {}", path.display()));
            Ok(())
        }
    }
}
