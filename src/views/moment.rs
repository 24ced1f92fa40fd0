//! A time as people read it.

/// A time in UTC, to the second.
pub fn moment(time_ns: u64) -> String {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(time_ns / 1_000_000_000);
    let text = humantime::format_rfc3339_seconds(time).to_string();
    text.replace('T', " ").replace('Z', "")
}
