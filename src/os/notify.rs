//! Messages to the service manager: readiness, state in words, signs of life (sd_notify(3)).
//!
//! The crate sd-notify 0.5 does not replace this: it finds no abstract socket, and its sends have no timeout.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

use super::{clock, log};

/// The most time that a send takes, so that a manager that does not read cannot block the daemon.
const PATIENCE: Duration = Duration::from_millis(200);

/// The key of what a daemon lacks.
pub const LACKS: &str = "X_HOSTINT_LACKS";

/// The connection to the service manager. Without a manager all calls do nothing.
#[derive(Debug, Default)]
pub struct Notify {
    manager: Option<(UnixDatagram, SocketAddr)>,
    watchdog: Option<Duration>,
    next_sign: Option<Instant>,
    status: String,
    lacking: String,
    reloading: bool,
    failed: bool,
}

impl Notify {
    /// Connects as the environment says: NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
    pub fn from_env() -> Self {
        let get = |name: &str| std::env::var_os(name);
        let for_us = get("WATCHDOG_PID").is_none_or(|pid| pid == *std::process::id().to_string());
        let watchdog = get("WATCHDOG_USEC").filter(|_| for_us);
        Self::new(get("NOTIFY_SOCKET"), watchdog)
    }

    /// Connects to a manager at this address. With a watchdog it expects a sign of life within this number of
    /// microseconds.
    pub fn new(address: Option<OsString>, watchdog_us: Option<OsString>) -> Self {
        let Some(address) = address.filter(|address| !address.is_empty()) else {
            return Self::default();
        };
        let mut notify = Self::default();
        match connect(&address) {
            Ok(manager) => notify.manager = Some(manager),
            Err(err) => notify.complain(&err),
        }
        let watchdog_us = watchdog_us.and_then(|us| us.to_str()?.parse().ok());
        notify.watchdog = watchdog_us.filter(|us| *us > 0).map(Duration::from_micros);
        notify
    }

    /// True if there is a service manager.
    pub fn listens(&self) -> bool {
        self.manager.is_some()
    }

    /// Says that the daemon is ready.
    pub fn ready(&mut self) {
        self.send("READY=1");
    }

    /// Says that a reload begins or has ended. The caller calls this often.
    pub fn reload_goes_on(&mut self, goes_on: bool) {
        if goes_on == self.reloading {
            return;
        }
        let now_us = clock::monotonic_ns() / 1000;
        let is_told = if goes_on {
            self.send(&format!("RELOADING=1\nMONOTONIC_USEC={now_us}"))
        } else {
            self.send("READY=1")
        };
        if is_told || self.manager.is_none() {
            self.reloading = goes_on;
        }
    }

    /// Says that the daemon is ending.
    pub fn stopping(&mut self) {
        self.send("STOPPING=1");
    }

    /// Sends a line about the daemon's state, unless the manager knows it.
    pub fn status(&mut self, line: String) {
        if line != self.status && self.send(&format!("STATUS={}", line.replace('\n', " "))) {
            self.status = line;
        }
    }

    /// Says what the daemon lacks to do its work, a sentence each: what an agent understands, and other managers ignore.
    pub fn lacks(&mut self, lacking: &[String]) {
        let text = lacking.join("; ").replace('\n', " ");
        if text != self.lacking && self.send(&format!("{LACKS}={text}")) {
            self.lacking = text;
        }
    }

    /// Sends a sign of life if one is due. Returns when the next one is.
    pub fn alive(&mut self) -> Option<Instant> {
        let watchdog = self.watchdog?;
        let now = Instant::now();
        if self.next_sign.is_none_or(|next| next <= now) {
            self.next_sign = Some(now + watchdog / 4);
            self.send("WATCHDOG=1");
        }
        self.next_sign
    }

    /// Returns false if the manager did not take it.
    fn send(&mut self, message: &str) -> bool {
        let Some((socket, address)) = &self.manager else {
            return false;
        };
        match socket.send_to_addr(message.as_bytes(), address) {
            Ok(_) => true,
            Err(err) => {
                self.complain(&err);
                false
            }
        }
    }

    fn complain(&mut self, err: &io::Error) {
        if !self.failed {
            self.failed = true;
            log::warning(format_args!("cannot talk to the service manager: {err}"));
        }
    }
}

fn connect(address: &OsStr) -> io::Result<(UnixDatagram, SocketAddr)> {
    let address = match address.as_bytes().split_first() {
        Some((b'@', name)) => SocketAddr::from_abstract_name(name)?,
        Some((b'/', _)) => SocketAddr::from_pathname(address)?,
        _ => return Err(io::Error::other("NOTIFY_SOCKET is no path and no @name")),
    };
    let socket = UnixDatagram::unbound()?;
    socket.set_write_timeout(Some(PATIENCE))?;
    Ok((socket, address))
}
