//! Log lines: on stderr, or in the journal with their priority and fields if stderr is connected to it.

use std::fmt::Display;
use std::io::{self, Write};
use std::os::unix::net::UnixDatagram;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use nix::sys::stat::fstat;

use super::plain_text::without_numbers;

/// The socket on which journald takes entries with fields.
const JOURNAL: &str = "/run/systemd/journal/socket";

/// The variable that names the role of a process that [`crate::daemon::agent`] started.
pub const ROLE: &str = "HOSTINT_ROLE";

/// The severity of a line, with the numbers of syslog(3).
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Level {
    Error = 3,
    Warning = 4,
    Info = 6,
    /// The requests that hostint makes to the kernel.
    Debug = 7,
}

/// Lines up to this level are written; more detailed ones are not.
static MOST_DETAILED: AtomicU8 = AtomicU8::new(Level::Info as u8);

/// An event for programs that read the journal. Its MESSAGE_ID is never used for another one; hostint(8) lists them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event {
    Attached,
    Detached,
    Repaired,
    CannotRepair,
    Peer,
    ReportsLost,
    ReportsSentAgain,
    Trouble,
    TroubleOver,
    CollectorSilent,
    CollectorAnswers,
}

impl Event {
    pub const ALL: [Event; 11] = [
        Event::Attached,
        Event::Detached,
        Event::Repaired,
        Event::CannotRepair,
        Event::Peer,
        Event::ReportsLost,
        Event::ReportsSentAgain,
        Event::Trouble,
        Event::TroubleOver,
        Event::CollectorSilent,
        Event::CollectorAnswers,
    ];

    /// Returns the event's MESSAGE_ID.
    pub fn id(self) -> &'static str {
        match self {
            Event::Attached => "4b2bb9cc3abf4da1bc1d8b17d4c12a5a",
            Event::Detached => "255974b301c24c7a8b87fc1019d80ad8",
            Event::Repaired => "b889800cd5b942bda0a81d022a38cc95",
            Event::CannotRepair => "25d532ece9d54af78628964ff5e4a894",
            Event::Peer => "ca5274ca6f2942c9bf22af3b1a6d55b5",
            Event::ReportsLost => "c7135948e6124f55935bcf6b5eaa0423",
            Event::ReportsSentAgain => "2fd6a857ce4647608f735cbaf4a4907b",
            Event::Trouble => "095e57e2607543ae851057a55a4334f7",
            Event::TroubleOver => "b1302bc857fb4138b6ef9bca77779ecc",
            Event::CollectorSilent => "5e7d0a7e8f6c4b5f9d2a6c1f0b3e94d8",
            Event::CollectorAnswers => "0c9f3be1a7d2486e8b5412fd6e7a93c1",
        }
    }
}

/// Writes lines up to this level from now on.
pub fn set_level(level: Level) {
    MOST_DETAILED.store(level as u8, Ordering::Relaxed);
}

pub fn is_written(level: Level) -> bool {
    level as u8 <= MOST_DETAILED.load(Ordering::Relaxed)
}

/// True if debug lines are written: what only they need can be skipped otherwise.
pub fn is_debugging() -> bool {
    is_written(Level::Debug)
}

pub fn error(message: impl Display) {
    write(Level::Error, None, &[], message);
}

pub fn warning(message: impl Display) {
    write(Level::Warning, None, &[], message);
}

pub fn info(message: impl Display) {
    write(Level::Info, None, &[], message);
}

/// Writes a line about a request to the kernel. Without debug lines the message is not even made.
pub fn debug(message: impl FnOnce() -> String) {
    if is_debugging() {
        write(Level::Debug, None, &[], message());
    }
}

/// Writes a line that programs can find in the journal. The name of each field follows HOSTINT_ and has no line break.
pub fn event(level: Level, event: Event, fields: &[(&str, &dyn Display)], message: impl Display) {
    write(level, Some(event), fields, message);
}

fn write(
    level: Level,
    event: Option<Event>,
    fields: &[(&str, &dyn Display)],
    message: impl Display,
) {
    static STDERR: OnceLock<Stderr> = OnceLock::new();
    if !is_written(level) {
        return;
    }
    let message = named(&without_numbers(message.to_string()));
    let stderr = STDERR.get_or_init(Stderr::find);
    if let Stderr::Journal(Some(journal)) = stderr
        && journal.send(&entry(level, event, fields, &message)).is_ok()
    {
        return;
    }
    // If this fails, there is nowhere left to report it.
    let _ = io::stderr()
        .lock()
        .write_all(lines(level, &message, stderr).as_bytes());
}

/// The message with the name of this process' role before each line, if it is one of several of an agent.
fn named(message: &str) -> String {
    static NAME: OnceLock<Option<String>> = OnceLock::new();
    match NAME.get_or_init(|| std::env::var(ROLE).ok()) {
        Some(role) => {
            let lines: Vec<String> = message
                .lines()
                .map(|line| format!("{role}: {line}"))
                .collect();
            lines.join("\n")
        }
        None => message.to_owned(),
    }
}

/// The destination of stderr.
pub enum Stderr {
    Elsewhere,
    /// Journald, which reads a priority at the beginning of each line. Entries with fields need its socket.
    Journal(Option<UnixDatagram>),
}

impl Stderr {
    fn find() -> Self {
        let stream = std::env::var("JOURNAL_STREAM").unwrap_or_default();
        let ours = fstat(io::stderr()).map(|stat| format!("{}:{}", stat.st_dev, stat.st_ino));
        if ours.is_ok_and(|ours| ours == stream) {
            Stderr::Journal(connect().ok())
        } else {
            Stderr::Elsewhere
        }
    }
}

fn connect() -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    socket.connect(JOURNAL)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

pub fn lines(level: Level, message: &str, stderr: &Stderr) -> String {
    let priority = match stderr {
        Stderr::Journal(_) => format!("<{}>", level as u8),
        Stderr::Elsewhere => String::new(),
    };
    message
        .lines()
        .map(|line| format!("{priority}hostint: {line}\n"))
        .collect()
}

/// Returns an entry in journald's own format.
pub fn entry(
    level: Level,
    event: Option<Event>,
    fields: &[(&str, &dyn Display)],
    message: &str,
) -> Vec<u8> {
    let mut entry = Vec::new();
    let mut add = |name: &str, value: &str| {
        entry.extend_from_slice(name.as_bytes());
        if value.contains('\n') {
            entry.push(b'\n');
            entry.extend_from_slice(&(value.len() as u64).to_le_bytes());
        } else {
            entry.push(b'=');
        }
        entry.extend_from_slice(value.as_bytes());
        entry.push(b'\n');
    };
    add("MESSAGE", message);
    add("PRIORITY", &(level as u8).to_string());
    add("SYSLOG_IDENTIFIER", "hostint");
    if let Some(event) = event {
        add("MESSAGE_ID", event.id());
    }
    for (name, value) in fields {
        add(&format!("HOSTINT_{name}"), &value.to_string());
    }
    entry
}
