//! HTTP requests to engines: bounded in time, and over TLS if the URL begins with https.

use std::io::{Read, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use ureq::http::Response;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body};

use super::answer::Trouble;
use crate::model::PlainError;

/// The longest time of a request with its answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The content type of protobuf messages.
pub const PROTOBUF: &str = "application/x-protobuf";

/// The most bytes of an answer that are read. Error messages are shorter.
const MOST_ANSWER: u64 = 64 << 10;

/// The longest pause that an engine may ask for.
const MOST_REST: Duration = Duration::from_secs(300);

/// The most characters of an answer that are logged.
const MOST_SHOWN: usize = 300;

/// The client of one URL, with the headers of all requests.
pub struct HttpClient {
    agent: Agent,
    url: String,
    headers: Vec<(String, String)>,
    /// The end of the pause that the other side asked for.
    rest: Mutex<Option<Instant>>,
}

/// The answer to a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HttpAnswer {
    pub status: u16,
    pub body: Vec<u8>,
}

impl HttpClient {
    /// Makes a client for an `http` or `https` URL. Only `headers` may hold secrets, because URLs are logged. Servers
    /// are checked against the certificates that this system trusts.
    ///
    /// # Errors
    /// The system's certificates are unusable.
    pub fn new(url: &str, headers: Vec<(String, String)>) -> Result<Self, String> {
        Self::with_patience(url, headers, TIMEOUT)
    }

    /// The same with another longest time of a request.
    ///
    /// # Errors
    /// The system's certificates are unusable.
    pub fn with_patience(
        url: &str,
        headers: Vec<(String, String)>,
        patience: Duration,
    ) -> Result<Self, String> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(patience))
            .user_agent(concat!("hostint/", env!("CARGO_PKG_VERSION")));
        if url.starts_with("https://") {
            config = config.tls_config(TlsConfig::builder().root_certs(trusted()?).build());
        }
        Ok(Self {
            agent: config.build().new_agent(),
            url: url.to_owned(),
            headers,
            rest: Mutex::new(None),
        })
    }

    /// Returns the rest of the pause that the last answer asked for (Retry-After, in seconds).
    pub fn rest(&self) -> Duration {
        let rest = *self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        rest.map_or(Duration::ZERO, |until| {
            until.saturating_duration_since(Instant::now())
        })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Gets what is at the URL with `behind` appended to it; `most` bounds the bytes that are read.
    ///
    /// # Errors
    /// There was no answer.
    pub fn get(
        &self,
        behind: &str,
        query: &[(&str, &str)],
        most: u64,
    ) -> Result<HttpAnswer, String> {
        let request = self.agent.get(format!("{}{behind}", self.url));
        let query = query.iter().copied();
        let mut answer = request
            .query_pairs(query)
            .call()
            .map_err(|err| said(&err))?;
        let status = answer.status().as_u16();
        let mut body = Vec::new();
        let read = answer.body_mut().as_reader();
        let read = read.take(most).read_to_end(&mut body);
        read.map_err(|err| err.to_string())?;
        Ok(HttpAnswer { status, body })
    }

    /// Posts the body to the URL with `behind` appended to it.
    ///
    /// # Errors
    /// [`Trouble::Later`] if there was no answer.
    pub fn post(&self, behind: &str, kind: &str, body: &[u8]) -> Result<HttpAnswer, Trouble> {
        self.send(behind, kind, None, body)
    }

    /// The same as [`Self::post`] for a body that is encoded as `encoding` already.
    ///
    /// # Errors
    /// [`Trouble::Later`] if there was no answer.
    pub fn send(
        &self,
        behind: &str,
        kind: &str,
        encoding: Option<&str>,
        body: &[u8],
    ) -> Result<HttpAnswer, Trouble> {
        let mut request = self
            .agent
            .post(format!("{}{behind}", self.url))
            .content_type(kind);
        if let Some(encoding) = encoding {
            request = request.header("Content-Encoding", encoding);
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let later = |err: &dyn std::fmt::Display| {
            Trouble::Later(format!("cannot deliver to {}: {err}", self.url))
        };
        let sent = request.send(body);
        *self.rest.lock().unwrap_or_else(PoisonError::into_inner) = sent
            .as_ref()
            .ok()
            .and_then(rest_of)
            .map(|rest| Instant::now() + rest);
        let mut answer = sent.map_err(|err| later(&err))?;
        let status = answer.status().as_u16();
        let mut read = Vec::new();
        let body = answer.body_mut().as_reader();
        body.take(MOST_ANSWER)
            .read_to_end(&mut read)
            .map_err(|err| later(&err))?;
        Ok(HttpAnswer { status, body: read })
    }
}

/// Without what the library says of its own parts.
fn said(err: &ureq::Error) -> String {
    match err {
        ureq::Error::Io(err) => PlainError(err).to_string(),
        err => err.to_string(),
    }
}

fn rest_of(answer: &Response<Body>) -> Option<Duration> {
    let seconds = answer.headers().get("Retry-After")?.to_str().ok()?;
    let rest = Duration::from_secs(seconds.trim().parse().ok()?);
    Some(rest.min(MOST_REST)).filter(|_| [429, 503].contains(&answer.status().as_u16()))
}

impl HttpAnswer {
    /// Returns the status and the beginning of the body in one line.
    pub fn said(&self) -> String {
        let text = String::from_utf8_lossy(&self.body);
        let words: Vec<_> = text.split_whitespace().collect();
        let shown: String = words.join(" ").chars().take(MOST_SHOWN).collect();
        format!("HTTP status {} {shown}", self.status)
            .trim_end()
            .to_owned()
    }
}

fn trusted() -> Result<RootCerts, String> {
    let found = rustls_native_certs::load_native_certs();
    let certs: Vec<_> = found
        .certs
        .iter()
        .map(|cert| Certificate::from_der(cert.as_ref()).to_owned())
        .collect();
    if certs.is_empty() {
        return Err("this system trusts no certificates (try the package ca-certificates)".into());
    }
    Ok(RootCerts::new_with_certs(&certs))
}

pub(super) fn gzip(body: &[u8]) -> std::io::Result<Vec<u8>> {
    let room = Vec::with_capacity(body.len() / 4);
    let mut encoder = GzEncoder::new(room, Compression::fast());
    encoder.write_all(body)?;
    encoder.finish()
}
