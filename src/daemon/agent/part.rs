//! One role under the agent: when it is started, whether it does its work, and when it is started again.

use std::time::{Duration, Instant};

use crate::cli::exit;
use crate::config::Role;
use crate::os::notify::LACKS;

/// The pause before a role is started again, which doubles with each failure.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A role that ran for this time has recovered: the next failure is a new one.
const RECOVERED: Duration = Duration::from_secs(60);
/// A role that gives no sign of life for this time stands still. It gives four in this time.
pub const STANDS_STILL: Duration = Duration::from_secs(30);

/// What a process of a role is started for.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum RoleWork {
    /// Its daemon.
    Serve,
    /// Attaching a source that the sink's daemon looks after: the process ends at once.
    Attach,
    /// Taking its programs off: the file gives the role no more.
    Detach,
}

/// The sink beside other roles.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SinkSeen {
    /// There is none, or it failed.
    Not,
    /// It begins, or leaves.
    Changes,
    Serves,
}

/// How a role that is not wanted any more leaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Leave {
    /// Its process ends.
    Ends,
    /// Then its programs are taken off.
    IsDetached,
}

/// Where a role is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    /// It is started at this time.
    Due(Instant),
    /// It failed, and is started again at this time.
    Failed(Instant),
    /// Its process does not do its work yet.
    Begins,
    Runs,
    /// Its work is done, and no process needed for it.
    Done,
    /// It does not start until the file changes.
    Refused,
}

/// A role, and its process if there is one.
#[derive(Clone, Debug)]
pub struct Part {
    pub role: Role,
    pub work: RoleWork,
    pub state: State,
    /// What its daemon says it does.
    pub line: String,
    /// What its daemon says it lacks to do its work, in words.
    pub lacking: String,
    /// It is not wanted any more, and goes in this way.
    pub leave: Option<Leave>,
    pause: Duration,
    since: Instant,
    alive: Instant,
}

/// What the agent says of a process that ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ended {
    /// As it should.
    Well,
    /// By itself, or because a command took its programs off.
    Alone,
    Refused,
    /// It is started again after this time.
    Failed(Duration),
}

impl Part {
    pub fn new(role: Role, work: RoleWork, now: Instant) -> Self {
        Self {
            role,
            work,
            state: State::Due(now),
            line: String::new(),
            lacking: String::new(),
            leave: None,
            pause: PAUSE,
            since: now,
            alive: now,
        }
    }

    /// True if it has a process.
    pub fn has_process(&self) -> bool {
        matches!(self.state, State::Begins | State::Runs)
    }

    /// True once nothing of it is left.
    pub fn is_gone(&self) -> bool {
        self.leave.is_some() && self.state == State::Done
    }

    /// True if it is to be started now. What shares pins and the node id with a sink waits until that has begun or gone, and a
    /// source that is only attached until it serves.
    pub fn is_due(&self, sink: SinkSeen, now: Instant) -> bool {
        let waits = match self.role {
            Role::Source | Role::Transit if self.work == RoleWork::Attach => {
                sink != SinkSeen::Serves
            }
            Role::Source | Role::Transit => {
                sink == SinkSeen::Changes && self.work == RoleWork::Serve
            }
            _ => false,
        };
        matches!(self.state, State::Due(at) | State::Failed(at) if at <= now) && !waits
    }

    pub fn note_start(&mut self, now: Instant) {
        self.state = State::Begins;
        self.since = now;
        self.alive = now;
    }

    /// Takes a message of its process (sd_notify(3)).
    pub fn note_message(&mut self, message: &str, now: Instant) {
        self.alive = now;
        for line in message.lines() {
            match line.split_once('=') {
                Some(("READY", "1")) if self.state == State::Begins => self.state = State::Runs,
                Some(("STATUS", said)) => said.clone_into(&mut self.line),
                Some((LACKS, said)) => said.clone_into(&mut self.lacking),
                _ => {}
            }
        }
    }

    /// True if its process is to be killed.
    pub fn stands_still(&self, now: Instant) -> bool {
        self.has_process() && now.duration_since(self.alive) > STANDS_STILL
    }

    /// Takes the exit code of its process; a signal has none.
    pub fn note_end(&mut self, code: Option<i32>, now: Instant) -> Ended {
        let code = code.and_then(|code| u8::try_from(code).ok());
        self.line.clear();
        self.lacking.clear();
        if let Some(leave) = self.leave
            && self.work != RoleWork::Detach
        {
            // However it ended, it is not started again.
            match leave {
                Leave::Ends => self.state = State::Done,
                Leave::IsDetached => self.begin_detaching(now),
            }
            return Ended::Well;
        }
        let ended = match (self.work, code) {
            (_, Some(exit::OK)) | (RoleWork::Detach, Some(exit::NOTHING)) => match self.work {
                RoleWork::Serve => Ended::Alone,
                RoleWork::Attach | RoleWork::Detach => Ended::Well,
            },
            (_, Some(exit::USAGE)) => Ended::Refused,
            _ => {
                if self.state == State::Runs && now.duration_since(self.since) > RECOVERED {
                    self.pause = PAUSE;
                }
                let pause = self.pause;
                self.pause = (pause * 2).min(LONGEST_PAUSE);
                Ended::Failed(pause)
            }
        };
        self.state = match ended {
            Ended::Well | Ended::Alone => State::Done,
            Ended::Refused => State::Refused,
            Ended::Failed(pause) => State::Failed(now + pause),
        };
        ended
    }

    /// The file was read again: what was refused, or is done, may be possible or needed now. Returns true if its daemon has to be
    /// asked to read the file, too.
    pub fn note_reload(&mut self, now: Instant) -> bool {
        match self.state {
            State::Begins | State::Runs => return self.work == RoleWork::Serve,
            State::Due(_) | State::Failed(_) | State::Done | State::Refused => {}
        }
        self.pause = PAUSE;
        self.state = State::Due(now);
        false
    }

    /// It is not wanted any more, and goes in this way.
    pub fn note_unwanted(&mut self, leave: Leave, now: Instant) {
        self.leave = Some(leave);
        if self.has_process() {
            return;
        }
        match leave {
            Leave::IsDetached if self.work != RoleWork::Detach => self.begin_detaching(now),
            Leave::IsDetached => {}
            Leave::Ends => self.state = State::Done,
        }
    }

    fn begin_detaching(&mut self, now: Instant) {
        self.work = RoleWork::Detach;
        self.pause = PAUSE;
        self.state = State::Due(now);
    }

    /// True once it does its work, or it is known why it does not.
    pub fn is_settled(&self) -> bool {
        match self.state {
            State::Due(_) | State::Begins => false,
            State::Failed(_) | State::Runs | State::Done | State::Refused => true,
        }
    }

    /// True if it does its work, for which a source beside a sink needs no process.
    pub fn runs(&self) -> bool {
        self.state == State::Runs || (self.state == State::Done && self.work == RoleWork::Attach)
    }

    /// Why it does not do its work; `None` if it does.
    pub fn trouble(&self) -> Option<String> {
        let name = self.role.name();
        match self.state {
            State::Runs if self.lacking.is_empty() => None,
            State::Runs => Some(format!("{name}: {}", self.lacking)),
            State::Done if self.work != RoleWork::Serve || self.leave.is_some() => None,
            _ => Some(self.said()),
        }
    }

    /// What it does, in words.
    pub fn said(&self) -> String {
        let name = self.role.name();
        match self.state {
            State::Runs if !self.line.is_empty() => format!("{name}: {}", self.line),
            State::Runs => format!("{name} runs"),
            State::Begins => format!("{name} begins"),
            State::Failed(_) => format!("{name} FAILED, is started again"),
            State::Due(_) => format!("{name} waits"),
            State::Done if self.work == RoleWork::Serve => format!("{name} has ended"),
            State::Done => format!("{name} is attached"),
            State::Refused => format!("{name} is REFUSED by its settings"),
        }
    }
}
