//! URLs of what is spoken to by HTTP.

use super::mistake::{Fault, fault};

/// What is wrong with the URL of `key`, if anything is.
pub(super) fn check_url(
    key: &'static str,
    given: Option<&str>,
    example: &str,
    faults: &mut Vec<Fault>,
) {
    let Some(url) = given else { return };
    // What may be a password is not shown.
    if url.contains('@') {
        let why = "a user or password in a URL would stand in logs (try push-headers-file)";
        return faults.push(fault(&[key], why));
    }
    let behind = ["http://", "https://"]
        .iter()
        .find_map(|scheme| url.strip_prefix(scheme));
    let host = behind.and_then(|rest| rest.split(['/', '?', '#']).next());
    let visible = url.bytes().all(|byte| byte.is_ascii_graphic());
    if !visible || host.is_none_or(|host| host.is_empty() || host.starts_with(':')) {
        let why = format!("{url:?} is no http or https URL (try {example})");
        faults.push(fault(&[key], why));
    }
}
