//! A collector's ClickHouse, as its settings say.

use anyhow::{Error, Result, anyhow};

use crate::config::{ClickHouseConfig, read_secret};
use crate::engines::clickhouse::{ClickHouse, User};

pub fn make(config: &ClickHouseConfig) -> Result<ClickHouse> {
    let file = config.password_file.as_deref();
    let password = file.map(|file| read_secret("ClickHouse password", file));
    let password = password.transpose().map_err(Error::msg)?;
    let user = config.user.clone().map(|name| User { name, password });
    let engine = ClickHouse::new(&config.url, &config.database, &config.table, user);
    engine.map_err(|why| anyhow!("cannot use --clickhouse: {why}"))
}
