//! URLs of what is spoken to by HTTP.

use std::net::Ipv6Addr;

use super::mistake::{Fault, fault};
use super::place::port_of;

/// What a URL is good for.
pub(super) struct Purpose {
    pub key: &'static str,
    pub example: &'static str,
    /// The keys that say who we are.
    pub login: &'static str,
}

/// What is wrong with the URL, if anything is.
pub(super) fn check_url(purpose: &Purpose, given: Option<&str>, faults: &mut Vec<Fault>) {
    let Some(Err(why)) = given.map(|url| check(purpose, url)) else {
        return;
    };
    faults.push(fault(&[purpose.key], why));
}

fn check(purpose: &Purpose, url: &str) -> Result<(), String> {
    let Purpose { example, login, .. } = purpose;
    // What may be a password is not shown.
    if url.contains('@') {
        return Err(format!(
            "a user or password in a URL would stand in logs (try {login})"
        ));
    }
    let schemes = ["http://", "https://"];
    let behind = schemes.iter().find_map(|scheme| url.strip_prefix(scheme));
    let visible = url.bytes().all(|byte| byte.is_ascii_graphic());
    let Some(behind) = behind.filter(|_| visible) else {
        return Err(format!("{url:?} is no http or https URL (try {example})"));
    };
    let host = behind.split(['/', '?', '#']).next().unwrap_or_default();
    // Each scheme has a port of its own, which is of no interest here.
    let why = match port_of(host, 0) {
        Ok(_) if host.parse::<Ipv6Addr>().is_err() => return Ok(()),
        Ok(_) => "in a URL an address of IPv6 stands in brackets".to_owned(),
        Err(why) => why,
    };
    Err(format!("cannot use {url:?}: {why} (try {example})"))
}
