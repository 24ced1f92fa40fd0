//! Settings of the ClickHouse engine.

use std::path::PathBuf;

use clap::Args;

use super::heading::ENGINES;
use super::mistake::{Fault, fault};
use super::secret::{Password, read_password};
use super::url::{Purpose, check_url};

const DEFAULT_DATABASE: &str = "hostint";
const DEFAULT_TABLE: &str = "reports";

const PURPOSE: Purpose = Purpose {
    key: "clickhouse",
    example: "http://192.0.2.9:8123/",
    login: "clickhouse-user and clickhouse-password-file",
};

/// Options of the ClickHouse engine.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = ENGINES)]
pub struct ClickHouseOptions {
    /// Insert reports into a ClickHouse table, by the HTTP interface at this URL, such as http://host:8123/
    #[arg(long, value_name = "URL")]
    pub clickhouse: Option<String>,

    /// Database of the table [default: hostint]
    #[arg(long, value_name = "NAME")]
    pub clickhouse_database: Option<String>,

    /// Table, as created by share/hostint/clickhouse/schema.sql [default: reports]
    #[arg(long, value_name = "NAME")]
    pub clickhouse_table: Option<String>,

    /// User that inserts [default: the server's default user]
    #[arg(long, value_name = "NAME")]
    pub clickhouse_user: Option<String>,

    /// File with the user's password, readable by its owner only [default: no password]
    #[arg(long, value_name = "PATH")]
    pub clickhouse_password_file: Option<PathBuf>,
}

/// Checked settings of ClickHouse; present if reports are to go there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClickHouseConfig {
    pub url: String,
    pub database: String,
    pub table: String,
    pub user: Option<String>,
    pub password: Option<Password>,
}

impl ClickHouseOptions {
    /// Checks everything and fills in defaults.
    pub(super) fn check(self, faults: &mut Vec<Fault>) -> Option<ClickHouseConfig> {
        check_url(&PURPOSE, self.clickhouse.as_deref(), faults);
        if self.clickhouse_password_file.is_some() && self.clickhouse_user.is_none() {
            let why = "a password needs a user (try clickhouse-user too)".to_owned();
            faults.push(fault(&["clickhouse-password-file"], why));
        }
        let file = self.clickhouse_password_file.as_deref();
        let file = file.filter(|_| self.clickhouse_user.is_some());
        let password = file.and_then(|file| {
            let key = "clickhouse-password-file";
            read_password(key, "ClickHouse password", file, faults)
        });
        let alone = [
            ("clickhouse-database", self.clickhouse_database.is_some()),
            ("clickhouse-table", self.clickhouse_table.is_some()),
            ("clickhouse-user", self.clickhouse_user.is_some()),
        ];
        for (key, _) in alone.iter().filter(|(_, given)| *given) {
            if self.clickhouse.is_none() {
                let why = "it needs clickhouse, which is not set (try clickhouse too)".to_owned();
                faults.push(fault(&[key], why));
            }
        }
        if let Some(user) = &self.clickhouse_user
            && (user.is_empty() || !user.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            let why = format!("{user:?} is not a user name (expected ASCII without spaces)");
            faults.push(fault(&["clickhouse-user"], why));
        }
        let mut name = |key: &'static str, given: Option<String>, default: &str| {
            let name = given.unwrap_or_else(|| default.to_owned());
            if !is_identifier(&name) {
                let why = format!(
                    "{name:?} is not a name (expected letters, digits and _, not beginning with a digit)"
                );
                faults.push(fault(&[key], why));
            }
            name
        };
        let database = name(
            "clickhouse-database",
            self.clickhouse_database,
            DEFAULT_DATABASE,
        );
        let table = name("clickhouse-table", self.clickhouse_table, DEFAULT_TABLE);
        Some(ClickHouseConfig {
            url: self.clickhouse?,
            database,
            table,
            user: self.clickhouse_user,
            password,
        })
    }
}

/// Whether SQL needs no quotes for this name.
fn is_identifier(name: &str) -> bool {
    let first = name.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
