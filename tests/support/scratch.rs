//! Files and folders of tests, which go with their guards.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::places;

/// A folder on disk of which no other test knows.
pub struct Folder(PathBuf);

impl Folder {
    pub fn create() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = places::scratch().join(format!("{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where a file of this name is, or would be.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The same as text, for command lines.
    pub fn name(&self, name: &str) -> String {
        self.file(name).into_os_string().into_string().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file in a folder of its own.
pub struct TempFile {
    _folder: Folder,
    path: String,
}

impl TempFile {
    pub fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = Folder::create();
        let path = folder.name(name);
        std::fs::write(&path, content).unwrap();
        Self {
            _folder: folder,
            path,
        }
    }

    pub fn path(&self) -> &str {
        &self.path
    }
}
