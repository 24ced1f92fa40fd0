//! A thread that finds something out beside the daemon's loop, which must not wait, and wakes it when it has.

use std::io;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

use anyhow::{Result, anyhow};

use crate::os::wait;

/// The thread, until its result was taken.
pub struct SideThread<T>(Receiver<Result<T>>);

impl<T: Send + 'static> SideThread<T> {
    pub fn start(name: &str, run: impl FnOnce() -> Result<T> + Send + 'static) -> io::Result<Self> {
        let (send, result) = channel();
        let thread = thread::Builder::new().name(name.to_owned());
        thread.spawn(move || {
            // Without a receiver the daemon ends, or needs it no more.
            let _ = send.send(run());
            wait::wake();
        })?;
        Ok(Self(result))
    }

    /// The result of a thread that has ended, once.
    pub fn take_result(this: &mut Option<Self>) -> Option<Result<T>> {
        let result = match this.as_ref()?.0.try_recv() {
            Err(TryRecvError::Empty) => return None,
            result => result.unwrap_or_else(|_| Err(ended_early())),
        };
        *this = None;
        Some(result)
    }

    /// Waits for the result.
    pub fn join(self) -> Result<T> {
        self.0.recv().map_err(|_| ended_early())?
    }
}

fn ended_early() -> anyhow::Error {
    anyhow!("a thread ended early")
}
