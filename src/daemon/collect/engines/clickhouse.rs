//! Makes the ClickHouse engine of a collector from its settings.

use anyhow::{Result, anyhow};

use crate::config::ClickHouseConfig;
use crate::engines::clickhouse::{ClickHouse, User};

pub fn make(config: &ClickHouseConfig) -> Result<ClickHouse> {
    let password = config.password.clone().map(|password| password.0);
    let user = config.user.clone().map(|name| User { name, password });
    let engine = ClickHouse::new(&config.url, &config.database, &config.table, user);
    engine.map_err(|why| anyhow!("cannot use --clickhouse: {why}"))
}
