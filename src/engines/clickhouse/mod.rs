//! Reports as rows of a ClickHouse table, inserted by HTTP.
//!
//! A parcel is one INSERT, the same bytes with the same deduplication token whenever it comes again; what servers
//! without tokens store twice is told by the columns run and number.

mod answer;
mod columns;
mod row;
mod row_binary;
mod table;

use std::time::Duration;

pub use columns::COLUMNS;
pub use row_binary::{append_rows, packed_rows};

use super::clock::now_ns;
use super::http::HttpClient;
use super::{Accepted, Engine, Pace, Parcel, Trouble};

/// ClickHouse likes few large inserts.
const PACE: Pace = Pace {
    reports: 50_000,
    linger: Duration::from_secs(1),
};

/// A table of a server, which schema.sql or schema-plain.sql made.
pub struct ClickHouse {
    client: HttpClient,
    database: String,
    table: String,
    /// Begins all query strings.
    mark: char,
    /// Settings that the server knows, once it was asked.
    settings: Option<String>,
    /// The last parcel that was made up, by its number.
    packed: Option<(u64, Vec<u8>)>,
}

/// Who inserts.
pub struct User {
    pub name: String,
    pub password: Option<String>,
}

impl ClickHouse {
    /// `database` and `table` are identifiers, which need no quotes.
    ///
    /// # Errors
    /// What is wrong with the URL.
    pub fn new(url: &str, database: &str, table: &str, user: Option<User>) -> Result<Self, String> {
        let mut headers = Vec::new();
        if let Some(user) = user {
            headers.push(("X-ClickHouse-User".to_owned(), user.name));
            let key = user.password.into_iter();
            headers.extend(key.map(|key| ("X-ClickHouse-Key".to_owned(), key)));
        }
        Ok(Self {
            client: HttpClient::new(url, headers)?,
            database: database.to_owned(),
            table: table.to_owned(),
            mark: if url.contains('?') { '&' } else { '?' },
            settings: None,
            packed: None,
        })
    }

    fn whole_table(&self) -> String {
        format!("{}.{}", self.database, self.table)
    }

    /// Looks whether the table is as it should be, once, and again after troubles.
    fn settings(&mut self) -> Result<String, Trouble> {
        if let Some(settings) = &self.settings {
            return Ok(settings.clone());
        }
        let question = table::question(&self.database, &self.table);
        let query = format!("{}default_format=TabSeparated", self.mark);
        let answer = self.client.post(&query, "text/plain", question.as_bytes());
        let known = answer.and_then(|answer| match answer.status {
            200 if !answer::is_exception(&answer) => Ok(answer.body),
            _ => Err(self.trouble(&answer)),
        })?;
        let settings = table::check(&known)
            .map_err(|why| Trouble::Later(format!("table {}: {why}", self.whole_table())))?;
        self.settings = Some(settings.clone());
        Ok(settings)
    }

    fn insert(&self, settings: &str, parcel: &Parcel, rows: &[u8]) -> Result<(), Trouble> {
        let first = parcel.entries().next().map_or(0, |entry| entry.number);
        let query = format!(
            "{}query={}&{}",
            self.mark,
            table::insert(&self.whole_table()),
            settings.replace(table::TOKEN, &format!("{:016x}-{first}", parcel.run().0)),
        );
        let kind = "application/octet-stream";
        let answer = self.client.send(&query, kind, Some("gzip"), rows)?;
        match answer.status {
            200 if answer.body.is_empty() => Ok(()),
            _ => Err(self.trouble(&answer)),
        }
    }

    fn trouble(&self, answer: &super::http::Answer) -> Trouble {
        answer::trouble(answer, &self.whole_table())
    }
}

impl Engine for ClickHouse {
    fn name(&self) -> &'static str {
        "clickhouse"
    }

    fn destination(&self) -> String {
        self.client.url().to_owned()
    }

    fn pace(&self) -> Pace {
        PACE
    }

    fn deliver(&mut self, parcel: &Parcel) -> Result<Accepted, Trouble> {
        let packed = self.packed.take();
        let packed = packed.filter(|(number, _)| *number == parcel.number);
        let rows = match packed {
            Some((_, rows)) => rows,
            None => packed_rows(parcel, now_ns())
                .map_err(|err| Trouble::Refused(format!("cannot compress rows: {err}")))?,
        };
        let inserted = self
            .settings()
            .and_then(|settings| self.insert(&settings, parcel, &rows));
        if inserted.is_err() {
            self.settings = None;
            self.packed = Some((parcel.number, rows));
        }
        inserted.map(|()| Accepted::default())
    }
}
