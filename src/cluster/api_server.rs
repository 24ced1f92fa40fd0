//! Requests to the API server: parts of a list, and a watch, whose answer does not end.

use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ureq::http::Response;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use super::answers::{PodListPart, WatchEvent, part_of, watch_event};
use crate::model::PlainError;

/// The longest time of a request for a part of a list.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time after which the server ends a watch, in seconds, and the longest one without a word of it. Bookmarks come about
/// each minute.
const WATCH_SECONDS: &str = "240";
const SILENCE: Duration = Duration::from_secs(270);
/// The pods of a part of a list.
const PAGE: &str = "500";
/// The most bytes of a part of a list, and of a line of a watch. A pod has at most some 1.5 MB.
const MOST_PAGE: u64 = 1 << 30;
const MOST_LINE: u64 = 8 << 20;
/// The most characters of an answer that are logged.
const MOST_SHOWN: usize = 200;
const PODS: &str = "/api/v1/pods";

/// A request that failed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ApiTrouble {
    /// What the server knows of that version is gone: the list has to be asked for again.
    Expired,
    /// The connection ended; what was read until then holds.
    Cut(String),
    /// What came is not what was asked for.
    Unreadable(String),
    Refused(String),
}

/// The address of the API server, and the account by which it is asked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ApiServer {
    url: String,
    /// The folder with the files `token` and `ca.crt`.
    account: PathBuf,
}

/// A connection by which a list is asked for, and then watched.
pub struct ApiConnection<'a> {
    server: &'a ApiServer,
    agent: Agent,
}

/// The lines of a watch.
pub struct WatchStream(BufReader<Box<dyn Read>>);

impl fmt::Display for ApiTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired => f.write_str("the server has forgotten what was listed"),
            Self::Cut(why) | Self::Unreadable(why) | Self::Refused(why) => f.write_str(why),
        }
    }
}

impl ApiServer {
    /// The server at a URL, asked by the account whose token and certificates are in a folder, as a pod has them.
    pub fn new(url: &str, account: &Path) -> Self {
        Self {
            url: url.trim_end_matches('/').to_owned(),
            account: account.to_owned(),
        }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Reads the certificates anew, which change like the token.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn connect(&self) -> Result<ApiConnection<'_>, ApiTrouble> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_connect(Some(PATIENCE / 6))
            .timeout_recv_response(Some(PATIENCE))
            .timeout_per_read(Some(SILENCE))
            .user_agent(concat!("hostint/", env!("CARGO_PKG_VERSION")));
        if self.url.starts_with("https://") {
            let certs = self.trusted().map_err(ApiTrouble::Refused)?;
            config = config.tls_config(TlsConfig::builder().root_certs(certs).build());
        }
        Ok(ApiConnection {
            server: self,
            agent: config.build().new_agent(),
        })
    }

    /// The cluster's own certificates, or those that this system trusts if the account has none.
    fn trusted(&self) -> Result<RootCerts, String> {
        let path = self.account.join("ca.crt");
        let cannot = |why: String| format!("cannot use certificates {}: {why}", path.display());
        let pem = match fs::read(&path) {
            Ok(pem) => pem,
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => {
                let found = rustls_native_certs::load_native_certs().certs;
                let certs = found
                    .iter()
                    .map(|cert| ureq::tls::Certificate::from_der(cert.as_ref()));
                return Ok(RootCerts::new_with_certs(&Vec::from_iter(
                    certs.map(|cert| cert.to_owned()),
                )));
            }
            Err(err) => return Err(cannot(PlainError(&err).to_string())),
        };
        let mut certs = Vec::new();
        for item in parse_pem(&pem) {
            if let PemItem::Certificate(cert) = item.map_err(|err| cannot(err.to_string()))? {
                certs.push(cert);
            }
        }
        match certs.is_empty() {
            true => Err(cannot("there is none in it".to_owned())),
            false => Ok(RootCerts::new_with_certs(&certs)),
        }
    }

    /// The token as it is now: it is replaced about each hour. It goes over TLS, or to this host.
    fn token(&self) -> Result<Option<String>, String> {
        let host = self.url.strip_prefix("http://");
        let is_here = |host: &str| {
            ["127.", "localhost", "[::1]"]
                .iter()
                .any(|own| host.starts_with(own))
        };
        if host.is_some_and(|host| !is_here(host)) {
            return Ok(None);
        }
        let path = self.account.join("token");
        match fs::read_to_string(&path) {
            Ok(token) => Ok(Some(token.trim().to_owned())),
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(err) => Err(format!(
                "cannot read {}: {}",
                path.display(),
                PlainError(&err)
            )),
        }
    }
}

impl ApiConnection<'_> {
    /// Asks for a part of the list: the first one, or the one that the last part named.
    ///
    /// # Errors
    /// There is none.
    pub fn list(&self, next: &str) -> Result<PodListPart, ApiTrouble> {
        let mut query = vec![("limit", PAGE)];
        if !next.is_empty() {
            query.push(("continue", next));
        }
        let mut body = Vec::new();
        let answer = self.get(&query, Some(PATIENCE))?;
        let read = answer
            .into_body()
            .into_reader()
            .take(MOST_PAGE)
            .read_to_end(&mut body);
        read.map_err(|err| ApiTrouble::Cut(PlainError(&err).to_string()))?;
        part_of(&body)
            .map_err(|why| ApiTrouble::Unreadable(format!("the list is unreadable: {why}")))
    }

    /// Asks for what happens from a version on.
    ///
    /// # Errors
    /// It is not told.
    pub fn watch(&self, version: &str) -> Result<WatchStream, ApiTrouble> {
        let query = [
            ("watch", "1"),
            ("resourceVersion", version),
            ("allowWatchBookmarks", "true"),
            ("timeoutSeconds", WATCH_SECONDS),
        ];
        let answer = self.get(&query, None)?;
        let reader: Box<dyn Read> = Box::new(answer.into_body().into_reader());
        Ok(WatchStream(BufReader::new(reader)))
    }

    fn get(
        &self,
        query: &[(&str, &str)],
        patience: Option<Duration>,
    ) -> Result<Response<Body>, ApiTrouble> {
        let request = self.agent.get(format!("{}{PODS}", self.server.url));
        let mut request = request
            .query_pairs(query.iter().copied())
            .header("Accept", "application/json");
        if let Some(token) = self.server.token().map_err(ApiTrouble::Refused)? {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let config = request.config().timeout_global(patience).build();
        let answer = config.call().map_err(|err| {
            let why = match &err {
                ureq::Error::Io(err) => PlainError(err).to_string(),
                err => err.to_string(),
            };
            ApiTrouble::Cut(why)
        })?;
        match answer.status().as_u16() {
            200 => Ok(answer),
            410 => Err(ApiTrouble::Expired),
            401 => Err(self.refused("the token is not accepted", answer)),
            403 => Err(self.refused("this account may not list and watch pods of all namespaces (a ClusterRole lets it)", answer)),
            status => Err(self.refused(&format!("HTTP status {status}"), answer)),
        }
    }

    fn refused(&self, what: &str, answer: Response<Body>) -> ApiTrouble {
        let mut said = Vec::new();
        let _ = answer
            .into_body()
            .into_reader()
            .take(4096)
            .read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let said: String = said
            .chars()
            .filter(|c| !c.is_control())
            .take(MOST_SHOWN)
            .collect();
        ApiTrouble::Refused(
            format!("{what}: {said}")
                .trim_end_matches([' ', ':'])
                .to_owned(),
        )
    }
}

impl WatchStream {
    /// Waits for the next event. `None` is the end of the watch, behind which the next one begins.
    ///
    /// # Errors
    /// The connection was cut, also in the middle of a line, or what came is no event.
    pub fn event(&mut self) -> Result<Option<WatchEvent>, ApiTrouble> {
        let mut line = Vec::new();
        let read = self.0.by_ref().take(MOST_LINE).read_until(b'\n', &mut line);
        read.map_err(|err| ApiTrouble::Cut(PlainError(&err).to_string()))?;
        if line.is_empty() {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') {
            return match line.len() as u64 {
                MOST_LINE => Err(ApiTrouble::Unreadable("an event is too long".to_owned())),
                _ => Err(ApiTrouble::Cut(
                    "the connection ended in an event".to_owned(),
                )),
            };
        }
        let event = watch_event(&line);
        event
            .map(Some)
            .map_err(|why| ApiTrouble::Unreadable(format!("an event is unreadable: {why}")))
    }
}
