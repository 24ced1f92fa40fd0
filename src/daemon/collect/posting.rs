//! Posts an event to the collector of this host.

use anyhow::{Result, anyhow};

use crate::config::PageUrl;
use crate::model::NetworkEvent;

/// Posts an event to a collector's page.
///
/// # Errors
/// If it cannot be reached, or refuses it.
#[cfg(feature = "http-client")]
pub fn post(page: &PageUrl, token: &str, event: &NetworkEvent) -> Result<()> {
    use crate::engines::Trouble;
    use crate::engines::http::HttpClient;
    let url = format!("{page}/api/events");
    let login = vec![("Authorization".to_owned(), format!("Bearer {token}"))];
    let cannot = |why: &dyn std::fmt::Display| anyhow!("cannot post to {url}: {why}");
    let client = HttpClient::new(&url, login).map_err(|why| cannot(&why))?;
    let body = serde_json::to_vec(event)?;
    let answer = client.post("", "application/json", &body);
    let answer = answer.map_err(|trouble| match trouble {
        Trouble::Later(why) | Trouble::Refused(why) => anyhow!(why),
    })?;
    match answer.status {
        200..300 => Ok(()),
        _ => Err(cannot(&answer.said())),
    }
}

/// The same of a hostint without an HTTP client.
#[cfg(not(feature = "http-client"))]
pub fn post(page: &PageUrl, _token: &str, _event: &NetworkEvent) -> Result<()> {
    Err(anyhow!(
        "cannot post to {page}/api/events: this hostint was built without an HTTP client"
    ))
}
