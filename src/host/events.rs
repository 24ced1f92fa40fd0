//! The log's events about programs that were attached and detached.

use std::fmt::Display;

use crate::model::NodeId;
use crate::os::log::{self, Event, Level};

/// A program was attached to `dev`; `line` says it in words.
pub fn attached(role: &str, dev: &str, mode: &str, node: NodeId, line: impl Display) {
    log::event(
        Level::Info,
        Event::Attached,
        &[
            ("DEV", &dev),
            ("ROLE", &role),
            ("MODE", &mode),
            ("NODE_ID", &node),
        ],
        line,
    );
}

/// A command took a program off `dev`.
pub fn detached(role: &str, dev: &str) {
    log::event(
        Level::Info,
        Event::Detached,
        &[("DEV", &dev), ("ROLE", &role)],
        format_args!("{role} detached from {dev}"),
    );
}
