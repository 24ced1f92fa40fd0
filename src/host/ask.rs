//! Asks this host's daemon, for users who may not read what is pinned.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::control::{
    ControlAnswer, DeadlineStream, Query, Request, UnpinnedRole, role_socket_path, socket_path,
};
use crate::model::{HostStatus, RecentCounts};

/// The time that the daemon has to answer.
const WAIT: Duration = Duration::from_secs(20);
/// Longer than any answer.
const LONGEST_ANSWER: u64 = 1 << 30;

/// The time that it has to answer what a status goes without.
const SHORT_WAIT: Duration = Duration::from_secs(1);

/// Asks the daemon at the control socket for the state of this host.
pub fn status(control: Option<&Path>, query: Query) -> Result<ControlAnswer> {
    ask(&of_host(control)?, &Request::Status(query), WAIT)
}

/// Asks it what counters grew by in the last minute; `None` if no daemon reports.
pub fn recent(control: Option<&Path>) -> Option<RecentCounts> {
    ask(&of_host(control).ok()?, &Request::Recent, SHORT_WAIT)
        .ok()?
        .recent
}

/// Asks the daemons of roles that pin nothing, and adds their states.
pub fn add_unpinned(status: &mut HostStatus) {
    for role in [UnpinnedRole::Postcards, UnpinnedRole::Tcp] {
        let Some(found) = of_role(role) else {
            continue;
        };
        status.postcards = status.postcards.take().or(found.postcards);
        status.tcp = status.tcp.take().or(found.tcp);
        status.lacks.extend(found.lacks);
    }
}

/// Asks the daemon of a role for its state; `None` if none runs, or it does not answer.
fn of_role(role: UnpinnedRole) -> Option<HostStatus> {
    let path = role_socket_path(role).ok()?;
    let answer = ask(&path, &Request::Status(Query::default()), SHORT_WAIT).ok()?;
    serde_json::from_value(answer.status?).ok()
}

fn of_host(control: Option<&Path>) -> Result<PathBuf> {
    socket_path(control).context("cannot name this network namespace")
}

fn ask(path: &Path, request: &Request, wait: Duration) -> Result<ControlAnswer> {
    let deadline = Instant::now() + wait;
    let socket = UnixStream::connect(path)
        .with_context(|| format!("cannot ask the daemon at {}", path.display()))?;
    let mut stream = DeadlineStream { socket, deadline };
    let asked = stream.write_all(&request.to_line()?);
    match asked.and_then(|()| stream.socket.shutdown(Shutdown::Write)) {
        // A client that is turned away is told why, and not listened to.
        Err(err) if matches!(err.kind(), ErrorKind::BrokenPipe | ErrorKind::NotConnected) => {}
        asked => asked.context("cannot ask the daemon")?,
    }
    let mut line = Vec::new();
    BufReader::new(stream.take(LONGEST_ANSWER))
        .read_until(b'\n', &mut line)
        .context("cannot read the daemon's answer")?;
    let answer: ControlAnswer =
        serde_json::from_slice(&line).context("cannot understand the daemon's answer")?;
    if let Some(why) = answer.error {
        bail!("the daemon refuses: {why}");
    }
    Ok(answer)
}
