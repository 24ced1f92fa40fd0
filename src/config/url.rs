//! URLs of services that are reached by HTTP.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use super::http::COLLECT_HTTP_PORT;
use super::mistake::{Fault, fault};
use super::place::port_of;

/// The purpose of a URL, for messages.
pub(super) struct Purpose {
    pub key: &'static str,
    pub example: &'static str,
    /// The keys that hold the credentials.
    pub login: &'static str,
}

/// The address of a collector's page, without a slash at its end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PageUrl(pub String);

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for PageUrl {
    type Err = String;

    /// A host alone is reached by HTTP, and without a port by that of the page.
    fn from_str(text: &str) -> Result<Self, String> {
        let purpose = Purpose {
            key: "url",
            example: "http://collector-1:13277",
            login: "a proxy that asks for none",
        };
        let text = text.trim_end_matches('/');
        let url = match text.contains("://") {
            true => text.to_owned(),
            false => format!("http://{text}"),
        };
        check(&purpose, &url)?;
        let Some(behind) = url.strip_prefix("http://") else {
            return Ok(Self(url));
        };
        let host = behind.split('/').next().unwrap_or_default();
        let path = &behind[host.len()..];
        Ok(match port_of(host, 0)? {
            0 => Self(format!("http://{host}:{COLLECT_HTTP_PORT}{path}")),
            _ => Self(url),
        })
    }
}

/// Reports a fault if the URL is wrong.
pub(super) fn check_url(purpose: &Purpose, given: Option<&str>, faults: &mut Vec<Fault>) {
    let Some(Err(why)) = given.map(|url| check(purpose, url)) else {
        return;
    };
    faults.push(fault(&[purpose.key], why));
}

fn check(purpose: &Purpose, url: &str) -> Result<(), String> {
    let Purpose { example, login, .. } = purpose;
    // A password in the URL must not be shown.
    if url.contains('@') {
        return Err(format!(
            "a user or password in a URL would stand in logs (try {login})"
        ));
    }
    let schemes = ["http://", "https://"];
    let behind = schemes.iter().find_map(|scheme| url.strip_prefix(scheme));
    let visible = url.bytes().all(|byte| byte.is_ascii_graphic());
    let Some(behind) = behind.filter(|_| visible) else {
        return Err(format!(
            "{url:?} is not an http or https URL (try {example})"
        ));
    };
    let host = behind.split(['/', '?', '#']).next().unwrap_or_default();
    // The scheme's default port does not matter here.
    let why = match port_of(host, 0) {
        Ok(_) if host.parse::<Ipv6Addr>().is_err() => return Ok(()),
        Ok(_) => "in a URL an IPv6 address stands in brackets".to_owned(),
        Err(why) => why,
    };
    Err(format!("cannot use {url:?}: {why} (try {example})"))
}
