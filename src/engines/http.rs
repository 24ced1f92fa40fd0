//! Requests to engines that speak HTTP: bounded in time, over TLS where the URL says https.

use std::io::{Read, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use ureq::http::Response;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body};

use super::Trouble;

/// A request with its answer takes no longer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The content type of protobuf messages.
pub const PROTOBUF: &str = "application/x-protobuf";

/// So much of an answer is read; what engines say of errors is shorter.
const MOST_ANSWER: u64 = 64 << 10;

/// An engine is left alone for no longer, whatever it asks.
const MOST_REST: Duration = Duration::from_secs(300);

/// So much of an answer is shown.
const MOST_SHOWN: usize = 300;

/// Where requests go, and what goes along with each.
pub struct HttpClient {
    agent: Agent,
    url: String,
    headers: Vec<(String, String)>,
    /// Until then the other side asked to be left alone.
    rest: Mutex<Option<Instant>>,
}

/// What came back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
}

impl HttpClient {
    /// For an `http` or `https` URL, as settings are checked to have. Of secrets only `headers` may have some: URLs
    /// stand in logs. Hosts are known by the certificates that this system trusts.
    ///
    /// # Errors
    /// What is wrong with the system's certificates.
    pub fn new(url: &str, headers: Vec<(String, String)>) -> Result<Self, String> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(TIMEOUT))
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

    /// For how long the last answer asks to be left alone (Retry-After, in seconds).
    pub fn rest(&self) -> Duration {
        let rest = *self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        rest.map_or(Duration::ZERO, |until| {
            until.saturating_duration_since(Instant::now())
        })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Posts the body to the URL with `behind` appended to it.
    ///
    /// # Errors
    /// [`Trouble::Later`] if there was no answer.
    pub fn post(&self, behind: &str, kind: &str, body: &[u8]) -> Result<Answer, Trouble> {
        self.send(behind, kind, None, body)
    }

    /// As [`Self::post`], compressed by gzip on the way.
    ///
    /// # Errors
    /// [`Trouble::Later`] if there was no answer.
    pub fn post_gzip(&self, behind: &str, kind: &str, body: &[u8]) -> Result<Answer, Trouble> {
        let packed = gzip(body).map_err(|err| Trouble::Refused(err.to_string()))?;
        self.send(behind, kind, Some("gzip"), &packed)
    }

    /// As [`Self::post`], of a body that is encoded as `encoding` already.
    ///
    /// # Errors
    /// [`Trouble::Later`] if there was no answer.
    pub fn send(
        &self,
        behind: &str,
        kind: &str,
        encoding: Option<&str>,
        body: &[u8],
    ) -> Result<Answer, Trouble> {
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
        let asked = sent.as_ref().ok().and_then(rest_of);
        *self.rest.lock().unwrap_or_else(PoisonError::into_inner) =
            asked.map(|rest| Instant::now() + rest);
        let mut answer = sent.map_err(|err| later(&err))?;
        let status = answer.status().as_u16();
        let mut read = Vec::new();
        let body = answer.body_mut().as_reader();
        body.take(MOST_ANSWER)
            .read_to_end(&mut read)
            .map_err(|err| later(&err))?;
        Ok(Answer { status, body: read })
    }
}

fn rest_of(answer: &Response<Body>) -> Option<Duration> {
    let seconds = answer.headers().get("Retry-After")?.to_str().ok()?;
    let rest = Duration::from_secs(seconds.trim().parse().ok()?);
    Some(rest.min(MOST_REST)).filter(|_| [429, 503].contains(&answer.status().as_u16()))
}

impl Answer {
    /// What statuses say of requests to most engines: 2xx is success, 408, 425, 429 and 5xx may go better later.
    ///
    /// # Errors
    /// Anything but success.
    pub fn ordinary(self) -> Result<Vec<u8>, Trouble> {
        match self.status {
            200..=299 => Ok(self.body),
            408 | 425 | 429 | 500..=599 => Err(Trouble::Later(self.said())),
            _ => Err(Trouble::Refused(self.said())),
        }
    }

    /// Status and the beginning of the body, on one line.
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
