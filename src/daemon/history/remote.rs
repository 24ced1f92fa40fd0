//! Asks the collector at an address what `hostint history` asks.

use anyhow::Result;

use crate::config::PageUrl;
use crate::model::{HistoryCall, HistoryReply};

/// Asks a collector.
///
/// # Errors
/// If it cannot be reached, or does not answer so.
#[cfg(feature = "http-client")]
pub fn ask(url: &PageUrl, call: &HistoryCall) -> Result<HistoryReply> {
    use std::time::Duration;

    use anyhow::{Context, anyhow, bail};

    use crate::engines::http::HttpClient;

    /// A collector answers a few at once, and gives up after this.
    const PATIENCE: Duration = Duration::from_secs(35);
    /// More than a collector sends.
    const MOST_BYTES: u64 = 256 << 20;

    let cannot = |why: &str| anyhow!("cannot ask the collector at {url}: {why}");
    let client = HttpClient::with_patience(&url.0, Vec::new(), PATIENCE);
    let client = client.map_err(|why| cannot(&why))?;
    let args = serde_json::to_string(&call.args)?;
    let columns = call.columns.to_string();
    let mut query = vec![("args", args.as_str()), ("columns", columns.as_str())];
    if call.folds {
        query.push(("folds", "1"));
    }
    let answer = client.get("/api/history", &query, MOST_BYTES);
    let answer = answer.map_err(|why| cannot(&why))?;
    match answer.status {
        200 => serde_json::from_slice(&answer.body)
            .with_context(|| format!("{url} is not a collector's page")),
        404 if !answer.body.starts_with(b"{") => {
            bail!(cannot(
                "it has no /api/history (is it a collector's page, of this version?)"
            ))
        }
        _ => Err(cannot(&answer.said())),
    }
}

/// The same of a hostint without an HTTP client.
#[cfg(not(feature = "http-client"))]
pub fn ask(url: &PageUrl, _call: &HistoryCall) -> Result<HistoryReply> {
    Err(anyhow::anyhow!(
        "cannot ask the collector at {url}: this hostint was built without an HTTP client"
    ))
}
