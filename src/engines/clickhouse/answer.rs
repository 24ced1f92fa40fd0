//! What becomes of a parcel that ClickHouse did not take, by the code of its exception: its HTTP statuses hardly tell.

use crate::engines::Trouble;
use crate::engines::http::Answer;

const NO_TABLE: [u32; 3] = [60, 81, 218];
const OTHER_COLUMNS: [u32; 6] = [8, 10, 16, 20, 47, 53];
const NO_ACCESS: [u32; 6] = [192, 193, 194, 195, 497, 516];

/// Data that it cannot read, or that a constraint of the table forbids; it will not read them another time.
const BAD_DATA: [u32; 13] = [6, 7, 26, 27, 32, 33, 38, 41, 69, 72, 117, 131, 469];

/// A body this large is refused by a proxy in front of the server.
const TOO_LARGE: u16 = 413;

/// The code in `Code: 60, e.displayText() = DB::Exception: …` or `Code: 60. DB::Exception: …`.
fn code(answer: &Answer) -> Option<u32> {
    let text = String::from_utf8_lossy(&answer.body);
    let (_, behind) = text.split_once("Code: ")?;
    let digits = behind.split(|c: char| !c.is_ascii_digit()).next()?;
    behind.contains("DB::").then(|| digits.parse().ok())?
}

pub(super) fn is_exception(answer: &Answer) -> bool {
    code(answer).is_some()
}

/// Nearly all of it is for somebody to put right, which the parcel waits for.
pub(super) fn trouble(answer: &Answer, table: &str) -> Trouble {
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
