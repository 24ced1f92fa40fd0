//! TCP connections as lines of JSON.

use serde::Serialize;

use crate::model::{CapturedConnection, TcpReport, TcpTotals};

const SCHEMA: &str = "hostint.tcp/1";

/// A line.
#[derive(Serialize)]
pub struct TcpJson<'a, T> {
    schema: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    content: &'a T,
}

impl<'a> TcpJson<'a, TcpReport> {
    /// A connection with its news.
    pub fn connection(report: &'a TcpReport) -> Self {
        Self {
            schema: SCHEMA,
            kind: "tcp-connection",
            content: report,
        }
    }
}

impl<'a> TcpJson<'a, TcpTotals> {
    /// All counts.
    pub fn totals(totals: &'a TcpTotals) -> Self {
        Self {
            schema: SCHEMA,
            kind: "tcp-totals",
            content: totals,
        }
    }
}

impl<'a> TcpJson<'a, CapturedConnection> {
    /// What a capture tells of option 114.
    pub fn captured(connection: &'a CapturedConnection) -> Self {
        Self {
            schema: SCHEMA,
            kind: "tcp-captured",
            content: connection,
        }
    }
}

/// True for a line of such an object.
pub fn is_captured(line: &[u8]) -> bool {
    line.trim_ascii_start()
        .starts_with(br#"{"schema":"hostint.tcp/1","kind":"tcp-captured""#)
}
