//! What an agent serves by HTTP: the metrics of all roles as one text, and which of them is not well.
//!
//! Each role answers at an address that only its agent can use: `daemon::http` listens there.

use std::io::{self, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use nix::sys::socket::{getsockopt, sockopt};

use crate::config::{AGENT_HTTP_PORT, Role};
use crate::daemon::health::Health;
use crate::daemon::http;
use crate::daemon::privileges::give_up_all_but;
use crate::views::metrics::agent::text_of_roles;
use crate::views::metrics::joined::JoinedMetrics;
use crate::web::{self, CachedText, HttpServer};

/// The longest text of metrics that is read of a role.
const LONGEST: u64 = 256 << 20;
/// The time that a role has for each part of its answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A role of this host as its metrics show it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RoleSeen {
    pub role: Role,
    /// It does its work.
    pub runs: bool,
    /// The process of its daemon, if it runs.
    pub pid: Option<i32>,
}

/// The address at which a role answers the agent with this process.
pub fn address_of(role: Role, agent: u32) -> String {
    format!("hostint-agent-{agent}-{}", role.name())
}

/// What is served, and what the agent's loop says of itself and its roles.
pub struct ServedRoles {
    pub health: Arc<Health>,
    seen: Arc<Mutex<Vec<RoleSeen>>>,
    _server: Option<HttpServer>,
}

impl ServedRoles {
    /// Serves from now on, if an address is given. No thread that reads what a role says has privileges.
    pub fn start(given: Option<&str>) -> Result<Self> {
        let health = Health::new();
        let seen: Arc<Mutex<Vec<RoleSeen>>> = Arc::default();
        let mut server = None;
        if let Some(listener) = http::bind(given, AGENT_HTTP_PORT)? {
            let shown = Arc::clone(&seen);
            let reading = thread::Builder::new().spawn(|| -> Result<CachedText> {
                give_up_all_but(&[])?;
                let mut joined = JoinedMetrics::default();
                let read = move || Ok(read_all(&shown, &mut joined));
                CachedText::start("metrics", read).context("cannot begin to read metrics")
            });
            let reading = reading.map(thread::JoinHandle::join);
            let reading = reading.context("cannot begin to read metrics")?;
            let reading = reading.map_err(|_| anyhow!("cannot begin to read metrics"))??;
            let routes = health.routes().merge(web::metrics(reading));
            server = Some(http::serve(listener, routes)?);
        }
        Ok(Self {
            health,
            seen,
            _server: server,
        })
    }

    /// Shows these roles from now on.
    pub fn show(&self, roles: Vec<RoleSeen>) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = roles;
    }
}

/// The metrics of all roles. One that does not answer has none, and [`text_of_roles`] has more to say of it.
fn read_all(seen: &Mutex<Vec<RoleSeen>>, joined: &mut JoinedMetrics) -> String {
    let roles = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let own = text_of_roles(roles.iter().map(|one| (one.role.name(), one.runs)));
    let mut pages = vec![("agent", own)];
    for one in roles {
        let page = one.pid.map(|pid| ask(one.role, pid));
        if let Some(Ok(page)) = page {
            pages.push((one.role.name(), page));
        }
    }
    joined.text(&pages)
}

/// Reads the metrics of a role, if this process of it listens there.
fn ask(role: Role, pid: i32) -> io::Result<String> {
    let name = address_of(role, std::process::id());
    let mut stream = UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?)?;
    if getsockopt(&stream, sockopt::PeerCredentials)?.pid() != pid {
        return Err(io::Error::other("another process listens there"));
    }
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(LONGEST).read_to_string(&mut answer)?;
    let (head, page) = answer.split_once("\r\n\r\n").unwrap_or_default();
    match head.split(' ').nth(1) {
        Some("200") => Ok(page.to_owned()),
        _ => Err(io::Error::other("it has no metrics")),
    }
}
