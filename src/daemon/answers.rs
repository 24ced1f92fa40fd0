//! Answers at the control socket of a role of which nothing is pinned, so that only its daemon knows its state.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::control::{AnswersClients, Control, Door};
use super::duty::Duty;
use crate::control::{ControlAnswer, Form, Query, UnpinnedRole, role_socket_path};
use crate::host::advice::advise_folder;
use crate::model::HostStatus;
use crate::os::{log, signals, wait};
use crate::views;

/// The time that the daemon has to answer its own server.
const WAIT: Duration = Duration::from_secs(5);

/// A daemon that tells its state.
pub trait CollectorsStatus {
    fn host_status(&mut self) -> Result<HostStatus>;
}

/// A question of the server, answered in a turn of the daemon's loop.
type Question = SyncSender<Result<HostStatus>>;

/// Makes the duty to answer at the role's socket, unless another daemon of this network namespace does so already.
pub fn answer(role: UnpinnedRole, has_file: bool) -> Option<AnswerClients> {
    let reload = has_file.then_some(signals::ask_to_reload as fn());
    Some(AnswerClients::start(bind(role)?, reload))
}

fn bind(role: UnpinnedRole) -> Option<Control> {
    let bound = role_socket_path(role)
        .context("cannot name this network namespace")
        .and_then(|path| make(role, &path).map_err(|err| advise_folder(err, &path)));
    bound
        .inspect_err(|err| {
            log::warning(format_args!(
                "hostint status will not show this hostint {}: {err:#}",
                role.name()
            ));
        })
        .ok()
}

fn make(role: UnpinnedRole, path: &Path) -> Result<Control> {
    if UnixStream::connect(path).is_ok() {
        bail!(
            "another hostint {} answers at {}",
            role.name(),
            path.display()
        );
    }
    if let Some(folder) = path.parent() {
        make_folder(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    Control::bind(path, Door::Open)
}

/// Makes a folder that every user may enter.
fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    match std::fs::create_dir(folder) {
        Ok(()) => std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)),
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(err) => Err(err),
    }
}

/// Hands questions to the daemon.
struct HandedAnswers {
    questions: Mutex<Sender<Question>>,
    reload: Option<fn()>,
}

impl HandedAnswers {
    fn ask(&self) -> Result<HostStatus> {
        let (answer, answered) = mpsc::sync_channel(1);
        let questions = self.questions.lock();
        let asked = questions
            .unwrap_or_else(PoisonError::into_inner)
            .send(answer);
        asked.map_err(|_| anyhow!("the daemon is ending"))?;
        wait::wake();
        answered
            .recv_timeout(WAIT)
            .context("the daemon is busy (try again)")?
    }
}

impl AnswersClients for HandedAnswers {
    fn status(&self, query: &Query) -> Result<ControlAnswer> {
        let status = self.ask()?;
        let mut answer = ControlAnswer {
            runs: Some(true),
            ..ControlAnswer::done()
        };
        match query.form {
            Form::Json => answer.status = Some(serde_json::to_value(&status)?),
            Form::Text => {
                let text = views::status::StatusText {
                    status: &status,
                    all: query.all,
                };
                answer.text = Some(text.to_string());
            }
        }
        Ok(answer)
    }

    fn reload(&self) -> Option<fn()> {
        self.reload
    }
}

/// The duty to answer what clients ask for.
pub struct AnswerClients {
    questions: Receiver<Question>,
    _control: Control,
}

impl AnswerClients {
    /// Listens from now on.
    pub fn start(control: Control, reload: Option<fn()>) -> Self {
        let (send, questions) = mpsc::channel();
        control.serve(HandedAnswers {
            questions: Mutex::new(send),
            reload,
        });
        Self {
            questions,
            _control: control,
        }
    }
}

impl<D: CollectorsStatus> Duty<D> for AnswerClients {
    fn task(&self) -> &'static str {
        "answer clients of the control socket"
    }

    fn turn(&mut self, daemon: &mut D, _now: Instant) -> Result<()> {
        for question in self.questions.try_iter() {
            // A client that went away meanwhile needs no answer.
            let _ = question.send(daemon.host_status());
        }
        Ok(())
    }
}
