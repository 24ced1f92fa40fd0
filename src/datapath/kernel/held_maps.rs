//! The pinned maps that this process holds open: a daemon asks for the same ones several times a second, and a look at
//! the pin costs less than opening it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use libbpf_rs::MapHandle;

use crate::os::log;

static HELD: Mutex<BTreeMap<PathBuf, HeldMap>> = Mutex::new(BTreeMap::new());

struct HeldMap {
    pin: Pin,
    map: Arc<MapHandle>,
}

/// Device and number of a pin's file, which no other pin has.
type Pin = (u64, u64);

fn pin_at(path: &Path) -> Option<Pin> {
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// Returns the map that is pinned at a path now; `None` if there is none. Maps whose pins are gone are held no longer,
/// so that the kernel frees them.
pub fn open(path: &Path) -> libbpf_rs::Result<Option<Arc<MapHandle>>> {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let pin = pin_at(path);
    if let Some(known) = held.get(path) {
        if pin == Some(known.pin) {
            return Ok(Some(Arc::clone(&known.map)));
        }
        held.retain(|path, known| pin_at(path) == Some(known.pin));
    }
    let Some(pin) = pin else {
        return Ok(None);
    };
    let map = Arc::new(MapHandle::from_pinned_path(path)?);
    log::debug(|| format!("opened the map {}", path.display()));
    let kept = Arc::clone(&map);
    held.insert(path.to_owned(), HeldMap { pin, map: kept });
    Ok(Some(map))
}
