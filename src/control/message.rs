//! The messages of the control socket: a request is a line of JSON, and so is its answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::RecentCounts;

/// The schema of answers.
pub const CONTROL_SCHEMA: &str = "hostint.control/1";

/// The most bytes of a request, line end included.
pub const LONGEST_REQUEST: u64 = 4096;

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    #[default]
    Json,
    /// Text for people.
    Text,
}

/// `{"ask": "status"}`, with the content of the answer as the flags of `hostint status` select it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Query {
    pub form: Form,
    pub flows: usize,
    pub peers: usize,
    pub sort: String,
    pub all: bool,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            form: Form::Json,
            flows: ten(),
            peers: ten(),
            sort: loss(),
            all: false,
        }
    }
}

/// A client's request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Request {
    Status(Query),
    /// `{"ask": "recent"}`: what counters grew by in the last minute.
    Recent,
    /// `{"change": "reload"}`: the config file is read again.
    Reload,
}

/// A line that is no request.
#[derive(Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct BadRequest(String);

/// A request as it is written in JSON.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct RequestLine {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ask: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    change: Option<String>,
    #[serde(default)]
    form: Form,
    #[serde(default = "ten")]
    flows: usize,
    #[serde(default = "ten")]
    peers: usize,
    #[serde(default = "loss")]
    sort: String,
    #[serde(default)]
    all: bool,
}

fn ten() -> usize {
    10
}

fn loss() -> String {
    "loss".to_owned()
}

impl Request {
    pub fn parse(line: &[u8]) -> Result<Self, BadRequest> {
        let line: RequestLine = serde_json::from_slice(line)
            .map_err(|err| BadRequest(format!("a request is a JSON object in one line: {err}")))?;
        match (line.ask.as_deref(), line.change.as_deref()) {
            (Some("status"), None) => Ok(Self::Status(Query {
                form: line.form,
                flows: line.flows,
                peers: line.peers,
                sort: line.sort,
                all: line.all,
            })),
            (Some("recent"), None) => Ok(Self::Recent),
            (None, Some("reload")) => Ok(Self::Reload),
            (Some(ask), None) => Err(BadRequest(format!(
                "cannot be asked for: {ask} (try status or recent)"
            ))),
            (None, Some(change)) => {
                Err(BadRequest(format!("cannot be done: {change} (try reload)")))
            }
            _ => Err(BadRequest("either ask or change is to be given".to_owned())),
        }
    }

    /// Returns the request as it is sent.
    pub fn to_line(&self) -> serde_json::Result<Vec<u8>> {
        let nothing = Query::default();
        let (ask, change, query) = match self {
            Self::Status(query) => (Some("status".to_owned()), None, query.clone()),
            Self::Recent => (Some("recent".to_owned()), None, nothing),
            Self::Reload => (None, Some("reload".to_owned()), nothing),
        };
        let mut line = serde_json::to_vec(&RequestLine {
            ask,
            change,
            form: query.form,
            flows: query.flows,
            peers: query.peers,
            sort: query.sort,
            all: query.all,
        })?;
        line.push(b'\n');
        Ok(line)
    }
}

/// The answer to a client.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct ControlAnswer {
    pub schema: String,
    /// Why the request was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Something of hostint is attached on this host, or its daemon runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<bool>,
    /// The status as an object of the schema hostint.status/1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Value>,
    /// The status as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What counters grew by in the last minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<RecentCounts>,
}

impl ControlAnswer {
    pub fn done() -> Self {
        Self {
            schema: CONTROL_SCHEMA.to_owned(),
            ..Self::default()
        }
    }

    pub fn refused(why: impl Into<String>) -> Self {
        Self {
            error: Some(why.into()),
            ..Self::done()
        }
    }

    pub fn to_line(&self) -> serde_json::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }
}
