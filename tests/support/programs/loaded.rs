//! Programs that stay loaded from one test to the next: the verifier takes longer for them than most tests for all else.

use std::ops::Deref;
use std::sync::Mutex;
use std::thread;

use libbpf_rs::skel::Skel;
use libbpf_rs::{MapCore, MapFlags, MapType, RingBufferBuilder};

use crate::open_files;

/// The most that wait for a test. Their maps take some ten megabytes each.
const MOST: usize = 16;

/// Objects that no test has now, the latest last, each with what was fixed when it was loaded.
pub struct Loaded<S>(Mutex<Vec<(String, S)>>);

// SAFETY: an object has its descriptors and its memory for itself, which any thread may use, and one has it at a time.
unsafe impl<S> Sync for Loaded<S> {}

impl<S: Skel<'static>> Loaded<S> {
    pub const fn new() -> Self {
        Loaded(Mutex::new(Vec::new()))
    }

    /// An object whose maps are empty, which is loaded if none waits that is fixed like this.
    pub fn lend(&'static self, fixed: &str, load: impl FnOnce() -> S) -> Lent<S> {
        let waiting = {
            let mut all = self.0.lock().expect("nobody panics with it");
            let at = all.iter().rposition(|(of, _)| of == fixed);
            at.map(|at| all.remove(at).1)
        };
        let object = match waiting {
            Some(object) => {
                object.object().maps().for_each(|map| empty(&map));
                object
            }
            None => {
                // Each program and each map of theirs is an open file.
                open_files::allow_most();
                load()
            }
        };
        Lent {
            object: Some(object),
            fixed: fixed.to_owned(),
            owner: self,
        }
    }
}

/// A test has it; then it waits for the next one.
pub struct Lent<S: 'static> {
    object: Option<S>,
    fixed: String,
    owner: &'static Loaded<S>,
}

impl<S> Deref for Lent<S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.object.as_ref().expect("taken by Drop alone")
    }
}

impl<S> Drop for Lent<S> {
    fn drop(&mut self) {
        if thread::panicking() {
            return;
        }
        let object = self.object.take().expect("taken once");
        let mut all = self.owner.0.lock().expect("nobody panics with it");
        all.push((std::mem::take(&mut self.fixed), object));
        let surplus = (all.len() > MOST).then(|| all.remove(0));
        drop(all);
        drop(surplus);
    }
}

/// Makes a map as it was when it was loaded.
fn empty(map: &impl MapCore) {
    let name = map.name().to_string_lossy().into_owned();
    if name.ends_with(".rodata") {
        return;
    }
    match map.map_type() {
        MapType::Array => zero(map, &name),
        MapType::PercpuArray => {
            for key in map.keys() {
                let values = map.lookup_percpu(&key, MapFlags::ANY);
                let mut values = values.expect("an array").expect("it has all elements");
                values.iter_mut().for_each(|value| value.fill(0));
                let zeroed = map.update_percpu(&key, &values, MapFlags::ANY);
                zeroed.expect("an array");
            }
        }
        MapType::Queue => while map.lookup_and_delete(&[]).expect("a queue").is_some() {},
        MapType::RingBuf => {
            let mut builder = RingBufferBuilder::new();
            builder.add(map, |_| 0).expect("the ring is mapped");
            let ring = builder.build().expect("one ring");
            ring.consume().expect("events can be read");
        }
        // It goes with the socket.
        MapType::SkStorage => {}
        MapType::Hash | MapType::LruHash | MapType::LpmTrie | MapType::ArrayOfMaps => {
            let keys: Vec<_> = map.keys().collect();
            for key in keys {
                match map.delete(&key) {
                    Ok(()) => {}
                    Err(err) if err.kind() == libbpf_rs::ErrorKind::NotFound => {}
                    Err(err) => panic!("{name}: {err}"),
                }
            }
        }
        other => panic!("{name}: how is a map of type {other:?} emptied?"),
    }
}

/// Writes all at once: the watchlist's has more than a hundred thousand elements.
fn zero(map: &impl MapCore, name: &str) {
    let keys: Vec<u8> = (0..map.max_entries()).flat_map(u32::to_ne_bytes).collect();
    let values = vec![0; map.max_entries() as usize * map.value_size() as usize];
    let zeroed = map.update_batch(
        &keys,
        &values,
        map.max_entries(),
        MapFlags::ANY,
        MapFlags::ANY,
    );
    zeroed.unwrap_or_else(|err| panic!("{name}: {err}"));
}
