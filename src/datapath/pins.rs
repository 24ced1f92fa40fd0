//! Where a host's maps and links are pinned: one folder for each network namespace.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::os::netns;

/// The folder of this host's pins. A host is a network namespace.
#[derive(Clone, Debug)]
pub struct Pins {
    folder: PathBuf,
}

impl Pins {
    /// The pins of the network namespace we are in, below `bpffs` or the system's BPF file system. Nothing is
    /// created unless `create`; `None` then means that there are none.
    pub fn of_this_host(bpffs: Option<&Path>, create: bool) -> io::Result<Option<Self>> {
        let root = match bpffs {
            Some(path) if netns::is_bpffs(path) => path.to_owned(),
            Some(path) => {
                return Err(io::Error::new(
                    io::ErrorKind::NotADirectory,
                    format!(
                        "{0} is no BPF file system (try: mount -t bpf bpf {0})",
                        path.display()
                    ),
                ));
            }
            None => match netns::bpffs(create)? {
                Some(path) => path,
                None => return Ok(None),
            },
        };
        let folder = root.join("hostint").join(netns::id()?.to_string());
        if create {
            fs::create_dir_all(folder.join("maps"))?;
            fs::create_dir_all(folder.join("links"))?;
        } else if !folder.try_exists()? {
            return Ok(None);
        }
        Ok(Some(Self { folder }))
    }

    /// Where the map of this name is, or would be, pinned.
    pub fn map(&self, name: &str) -> PathBuf {
        self.folder.join("maps").join(name)
    }

    /// Where the link of this role on this interface is, or would be, pinned.
    pub fn link(&self, role: &str, dev: &str) -> PathBuf {
        // bpffs refuses names with a dot
        self.folder
            .join("links")
            .join(format!("{role}@{}", dev.replace('.', "%2e")))
    }

    /// Role and interface of each pinned link.
    pub fn links(&self) -> io::Result<Vec<(String, String)>> {
        let mut found = Vec::new();
        let entries = match fs::read_dir(self.folder.join("links")) {
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

    /// Keeps others from serving this host while the result lives, or until this process ends however it
    /// ends. `None`: somebody does already.
    pub fn lock(&self) -> io::Result<Option<Flock<File>>> {
        let folder = File::open(&self.folder)?;
        match Flock::lock(folder, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => Ok(Some(lock)),
            Err((_, Errno::EWOULDBLOCK)) => Ok(None),
            Err((_, err)) => Err(err.into()),
        }
    }

    /// Removes these maps' pins, then the folder if nothing is left.
    pub fn remove_maps(&self, names: &[&str]) -> io::Result<()> {
        for name in names {
            remove(&self.map(name))?;
        }
        self.remove_folder_if_empty();
        Ok(())
    }

    /// Removes the folders from which everything was removed; those that are in use stay.
    pub fn remove_folder_if_empty(&self) {
        for folder in [self.folder.join("links"), self.folder.join("maps")] {
            let _ = fs::remove_dir(folder);
        }
        let _ = fs::remove_dir(&self.folder);
        if let Some(parent) = self.folder.parent() {
            let _ = fs::remove_dir(parent);
        }
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Removes a pin; none there is fine.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
        _ => Ok(()),
    }
}
