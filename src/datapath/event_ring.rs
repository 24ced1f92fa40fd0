//! The ring of the sink's events, read by a function that each call may choose anew.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::{self, NonNull};
use std::time::Duration;

use libbpf_rs::MapHandle;
use libbpf_rs::libbpf_sys;

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
    _map: MapHandle,
}

impl EventRing {
    pub(super) fn new(map: MapHandle) -> io::Result<Self> {
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
            _map: map,
        })
    }

    /// Waits until there are events, but no longer than `wait`, and hands the bytes of each event to `take`.
    pub fn drain<F: FnMut(&[u8])>(&mut self, wait: Duration, mut take: F) -> io::Result<()> {
        unsafe fn call<F: FnMut(&[u8])>(state: *mut c_void, bytes: &[u8]) {
            // SAFETY: `drain` set the state together with this function, and is still running.
            let take = unsafe { &mut *state.cast::<F>() };
            take(bytes);
        }
        self.taker.call = Some(call::<F>);
        self.taker.state = ptr::from_mut(&mut take).cast();
        let timeout_ms = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: the ring is open; the taker calls `take`, which lives until both calls have returned.
        let consumed = unsafe {
            // A signal may end the wait: what there is, is read all the same.
            libbpf_sys::ring_buffer__poll(self.ring.as_ptr(), timeout_ms);
            libbpf_sys::ring_buffer__consume(self.ring.as_ptr())
        };
        self.taker.call = None;
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
