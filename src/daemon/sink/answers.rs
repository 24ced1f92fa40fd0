//! Answers at the sink's control socket: the state of the whole host, from what is pinned.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

use crate::control::{ControlAnswer, Form, Query, socket_path};
use crate::daemon::control::{AnswersClients, Control, Door, Outcome};
use crate::datapath::host::daemon_counters::ControlCounters;
use crate::datapath::host::recent::{CounterValues, RecentValues};
use crate::datapath::kernel::pins::Pins;
use crate::host::advice::advise_folder;
use crate::host::ask;
use crate::host::state::{self, StatusQuery};
use crate::model::{FlowSort, RecentCounts};
use crate::os::log;
use crate::views;

/// Flows and peers in an answer, whatever is asked for.
const MOST_SHOWN: usize = 100_000;
/// The time between two looks at the counters.
const REMEMBER: Duration = Duration::from_secs(10);

/// Makes the socket at the path that was given, or at that of this network namespace.
pub fn bind(given: Option<&Path>) -> Result<Control> {
    let path = socket_path(given).context("cannot name this network namespace")?;
    if let (None, Some(folder)) = (given, path.parent()) {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
    }
    Control::bind(&path, Door::Group).map_err(|err| advise_folder(err, &path))
}

/// What the answers are made of.
pub struct HostAnswers {
    pins: Pins,
    reload: Option<fn()>,
    counters: Option<ControlCounters>,
    recent: Arc<RecentMinute>,
}

impl HostAnswers {
    /// Remembers counters from now on.
    pub fn new(pins: &Pins, reload: Option<fn()>) -> Self {
        let recent = Arc::new(RecentMinute {
            pins: pins.clone(),
            values: Mutex::default(),
        });
        recent.remember();
        Self {
            pins: pins.clone(),
            reload,
            counters: ControlCounters::open(pins).ok().flatten(),
            recent,
        }
    }
}

impl AnswersClients for HostAnswers {
    fn status(&self, query: &Query) -> Result<ControlAnswer> {
        let sort = FlowSort::from_name(&query.sort)
            .ok_or_else(|| anyhow!("flows cannot be sorted by {}", query.sort))?;
        let selection = StatusQuery {
            flows: query.flows.min(MOST_SHOWN),
            peers: query.peers.min(MOST_SHOWN),
            sort,
        };
        let mut found = state::read(&self.pins, selection, self.recent().as_ref())?;
        ask::add_unpinned(&mut found);
        let mut answer = ControlAnswer {
            runs: Some(state::runs(&found)),
            ..ControlAnswer::done()
        };
        match query.form {
            Form::Json => answer.status = Some(serde_json::to_value(&found)?),
            Form::Text => {
                let text = views::status::StatusText {
                    status: &found,
                    all: query.all,
                };
                answer.text = Some(text.to_string());
            }
        }
        Ok(answer)
    }

    fn recent(&self) -> Option<RecentCounts> {
        self.recent.until_now()
    }

    fn reload(&self) -> Option<fn()> {
        self.reload
    }

    fn count(&self, outcome: Outcome) {
        match (&self.counters, outcome) {
            (Some(counters), Outcome::Answered) => counters.answered(),
            (Some(counters), Outcome::Refused) => counters.refused(),
            (None, _) => {}
        }
    }
}

/// The counters of the last minute.
struct RecentMinute {
    pins: Pins,
    values: Mutex<RecentValues>,
}

impl RecentMinute {
    /// Keeps the values of counters again and again, in a thread of its own, for as long as anyone needs them.
    fn remember(self: &Arc<Self>) {
        let remembering = Arc::downgrade(self);
        let remembers = thread::Builder::new().spawn(move || {
            while let Some(recent) = remembering.upgrade() {
                recent.keep();
                drop(recent);
                thread::sleep(REMEMBER);
            }
        });
        if let Err(err) = remembers {
            log::warning(format_args!(
                "cannot remember counters: {err}; hostint status shows their sums since the start"
            ));
        }
    }

    /// Keeps the present values. Values that cannot be read are left out.
    fn keep(&self) {
        if let Ok(values) = CounterValues::read(&self.pins) {
            let mut kept = self.values.lock().unwrap_or_else(PoisonError::into_inner);
            kept.keep(values, Instant::now());
        }
    }

    /// What counters grew by in the last minute, or since the daemon began.
    fn until_now(&self) -> Option<RecentCounts> {
        let values = CounterValues::read(&self.pins).ok()?;
        let kept = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        kept.until(&values, Instant::now())
    }
}
