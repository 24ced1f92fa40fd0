//! The meaning of ClickHouse's answers. The code of its exception decides, because its HTTP statuses say too little.

use crate::engines::Trouble;
use crate::engines::http::HttpAnswer;

const NO_TABLE: [u32; 3] = [60, 81, 218];
const OTHER_COLUMNS: [u32; 6] = [8, 10, 16, 20, 47, 53];
const NO_ACCESS: [u32; 6] = [192, 193, 194, 195, 497, 516];

/// Codes of data that the server cannot read or that a constraint of the table forbids: trying again is of no use.
const BAD_DATA: [u32; 13] = [6, 7, 26, 27, 32, 33, 38, 41, 69, 72, 117, 131, 469];

/// A proxy in front of the server refuses a body of this size.
const TOO_LARGE: u16 = 413;

/// Returns the code in `Code: 60, e.displayText() = DB::Exception: …` or `Code: 60. DB::Exception: …`.
fn code(answer: &HttpAnswer) -> Option<u32> {
    let text = String::from_utf8_lossy(&answer.body);
    let (_, behind) = text.split_once("Code: ")?;
    let digits = behind.split(|c: char| !c.is_ascii_digit()).next()?;
    behind.contains("DB::").then(|| digits.parse().ok())?
}

pub(super) fn is_exception(answer: &HttpAnswer) -> bool {
    code(answer).is_some()
}

/// Returns the trouble that an answer means. The user can put most of them right, so the parcel waits.
pub(super) fn trouble(answer: &HttpAnswer, table: &str) -> Trouble {
    let said = answer.said();
    let advice = match (code(answer), answer.status) {
        (Some(code), _) if BAD_DATA.contains(&code) => {
            return Trouble::Refused(format!("cannot insert into {table}: {said}"));
        }
        (Some(code), _) if NO_TABLE.contains(&code) => {
            "create it with schema.sql, or with schema-plain.sql for old servers"
        }
        (Some(code), _) if OTHER_COLUMNS.contains(&code) => {
            "a table made by schema.sql, or by schema-plain.sql for old servers"
        }
        (Some(code), _) if NO_ACCESS.contains(&code) => {
            "another --clickhouse-user or --clickhouse-password-file, or GRANT SELECT, INSERT"
        }
        (Some(_), _) => "what ClickHouse's log says",
        (None, TOO_LARGE) => {
            return Trouble::Refused(format!(
                "cannot insert into {table}: {said} (try to allow larger requests)"
            ));
        }
        (None, 401 | 403) => "another --clickhouse-user or --clickhouse-password-file",
        (None, _) => "whether that is the URL of a ClickHouse server",
    };
    Trouble::Later(format!("cannot insert into {table}: {said} (try {advice})"))
}
