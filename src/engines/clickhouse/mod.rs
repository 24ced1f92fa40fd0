//! The ClickHouse engine: reports become rows of a table, inserted by HTTP.
//!
//! Each group of a parcel's rows is one INSERT; most parcels have one group. When it is sent again, it has the same bytes and
//! the same deduplication token. On servers without tokens, the columns run and number tell rows that were stored twice.

mod answer;
mod columns;
mod flow_totals;
mod host_row;
mod pending;
mod row;
mod row_binary;
mod row_group;
mod row_part;
mod table;

use std::time::Duration;

pub use columns::{COLUMNS, ColumnValue, TableColumn};
pub use row_binary::{append_rows, packed_rows};
pub use row_group::RowGroup;
pub use row_part::RowPart;

use self::pending::{PackedRows, PendingParcel};
use self::table::Insertion;
use super::http::HttpClient;
use super::{Accepted, Engine, Pace, Parcel, Trouble};

/// ClickHouse prefers few large inserts.
const PACE: Pace = Pace {
    reports: 50_000,
    linger: Duration::from_secs(1),
};

/// A table made by schema.sql or schema-plain.sql, and the server that has it.
pub struct ClickHouse {
    client: HttpClient,
    database: String,
    table: String,
    /// The character before a query string: `?`, or `&` if the URL has a query already.
    mark: char,
    /// How rows are inserted, once the server was asked.
    insertion: Option<Insertion>,
    /// The parcel that is being delivered.
    pending: Option<PendingParcel>,
}

/// The user that inserts.
pub struct User {
    pub name: String,
    pub password: Option<String>,
}

impl ClickHouse {
    /// Makes an engine. `database` and `table` are identifiers that need no quotes.
    ///
    /// # Errors
    /// The URL or the system's certificates are unusable.
    pub fn new(url: &str, database: &str, table: &str, user: Option<User>) -> Result<Self, String> {
        let mut headers = Vec::new();
        if let Some(user) = user {
            headers.push(("X-ClickHouse-User".to_owned(), user.name));
            headers.extend(
                user.password
                    .map(|password| ("X-ClickHouse-Key".to_owned(), password)),
            );
        }
        Ok(Self {
            client: HttpClient::new(url, headers)?,
            database: database.to_owned(),
            table: table.to_owned(),
            mark: if url.contains('?') { '&' } else { '?' },
            insertion: None,
            pending: None,
        })
    }

    fn whole_table(&self) -> String {
        format!("{}.{}", self.database, self.table)
    }

    /// Checks the table and returns how rows are inserted. This is done once, and again after a trouble.
    fn insertion(&mut self) -> Result<Insertion, Trouble> {
        if let Some(insertion) = &self.insertion {
            return Ok(insertion.clone());
        }
        let question = table::question(&self.database, &self.table);
        let query = format!("{}default_format=TabSeparated", self.mark);
        let answer = self
            .client
            .post(&query, "text/plain", question.as_bytes())?;
        if answer.status != 200 || answer::is_exception(&answer) {
            return Err(self.trouble(&answer));
        }
        let table = self.whole_table();
        let insertion = table::check(&table, &answer.body)
            .map_err(|why| Trouble::Later(format!("table {table}: {why}")))?;
        self.insertion = Some(insertion.clone());
        Ok(insertion)
    }

    fn insert(&self, how: &Insertion, parcel: &Parcel, rows: &PackedRows) -> Result<(), Trouble> {
        let columns = rows.group.columns();
        let token = format!("{:016x}-{}", parcel.run().0, rows.first);
        let query = format!(
            "{}query={}&{}",
            self.mark,
            table::insert(&self.whole_table(), &columns),
            how.settings.replace(table::TOKEN, &token),
        );
        let kind = "application/octet-stream";
        let answer = self.client.send(&query, kind, Some("gzip"), &rows.bytes)?;
        match answer.status {
            200 if answer.body.is_empty() => Ok(()),
            _ => Err(self.trouble(&answer)),
        }
    }

    fn trouble(&self, answer: &super::http::HttpAnswer) -> Trouble {
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
        let how = self.insertion()?;
        let of_this = self.pending.take().filter(|one| one.is_of(parcel));
        let mut pending = of_this.unwrap_or_else(|| PendingParcel::new(parcel));
        while let Some(rows) = pending
            .next(parcel)
            .map_err(|err| Trouble::Refused(format!("cannot compress rows: {err}")))?
        {
            let inserted = self.insert(&how, parcel, rows);
            if inserted.is_err() {
                self.insertion = None;
            }
            match inserted {
                Ok(()) => pending.taken(),
                Err(Trouble::Refused(why)) => pending.refused(why),
                Err(later) => {
                    self.pending = Some(pending);
                    return Err(later);
                }
            }
        }
        pending.outcome(parcel)
    }
}
