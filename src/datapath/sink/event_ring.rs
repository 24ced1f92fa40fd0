//! The ring of the sink's events, read by a function that each call may choose anew.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::{self, NonNull};
use std::time::{Duration, Instant};

use libbpf_rs::libbpf_sys;
use libbpf_rs::{MapCore, MapHandle};

use crate::os::wait::Wait;

/// Events that may come in a millisecond, in bytes. A ring has room for those of the pause behind events: those that follow
/// are not worth a wake-up each.
const BYTES_IN_A_MS: u32 = 40 * 1024;

/// Where the bytes of an event go while `drain` runs.
struct Taker {
    call: Option<unsafe fn(*mut c_void, &[u8])>,
    state: *mut c_void,
}

/// libbpf's reader of the ring. (libbpf-rs fixes the function when it makes its reader, which would then hold what the
/// function changes for as long as the ring lives.)
pub struct EventRing {
    ring: NonNull<libbpf_sys::ring_buffer>,
    taker: Box<Taker>,
    /// There were events a moment ago.
    rests_until: Option<Instant>,
    map: MapHandle,
}

impl EventRing {
    pub(in crate::datapath) fn new(map: MapHandle) -> io::Result<Self> {
        let mut taker = Box::new(Taker {
            call: None,
            state: ptr::null_mut(),
        });
        let context: *mut Taker = &mut *taker;
        // SAFETY: the map is open, and the context lives in a box for as long as the reader.
        let ring = unsafe {
            libbpf_sys::ring_buffer__new(
                map.as_fd().as_raw_fd(),
                Some(take_event),
                context.cast(),
                ptr::null(),
            )
        };
        let ring = NonNull::new(ring).ok_or_else(io::Error::last_os_error)?;
        Ok(Self {
            ring,
            taker,
            rests_until: None,
            map,
        })
    }

    fn rest(&self) -> Duration {
        Duration::from_millis(u64::from(self.map.max_entries() / BYTES_IN_A_MS))
    }

    /// Lets the daemon wake for the next event, or at the end of the rest behind the last ones.
    pub fn wakes<'a>(&'a self, wait: &mut Wait<'a>) {
        match self.rests_until {
            Some(until) => wait.until(until),
            None => wait.on(&self.map),
        }
    }

    /// Hands the bytes of each event that there is to `take`.
    pub fn drain<F: FnMut(&[u8])>(&mut self, mut take: F) -> io::Result<()> {
        unsafe fn call<F: FnMut(&[u8])>(state: *mut c_void, bytes: &[u8]) {
            // SAFETY: `drain` set the state together with this function, and is still running.
            let take = unsafe { &mut *state.cast::<F>() };
            take(bytes);
        }
        self.taker.call = Some(call::<F>);
        self.taker.state = ptr::from_mut(&mut take).cast();
        // SAFETY: the ring is open; the taker calls `take`, which lives until the call has returned.
        let consumed = unsafe { libbpf_sys::ring_buffer__consume(self.ring.as_ptr()) };
        self.taker.call = None;
        self.rests_until = (consumed > 0).then(|| Instant::now() + self.rest());
        if consumed < 0 {
            return Err(io::Error::from_raw_os_error(-consumed));
        }
        Ok(())
    }
}

impl Drop for EventRing {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and used by nothing else.
        unsafe { libbpf_sys::ring_buffer__free(self.ring.as_ptr()) };
    }
}

/// libbpf calls this for each event.
unsafe extern "C" fn take_event(context: *mut c_void, data: *mut c_void, size: u64) -> i32 {
    // SAFETY: `new` gave the box's address as the context.
    let taker = unsafe { &*context.cast::<Taker>() };
    if let Some(call) = taker.call {
        // SAFETY: libbpf gives the address and length of an event in its mapped ring.
        let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size as usize) };
        // SAFETY: `drain` runs, and set both.
        unsafe { call(taker.state, bytes) };
    }
    0
}
