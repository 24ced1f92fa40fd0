//! The watchlist: rules, and the destinations that they name.

mod dest;
mod prefix;
mod watch;

pub use dest::Dest;
pub use prefix::{BadPrefix, Prefix};
pub use watch::{
    BadPortRange, DEFAULT_PRIORITY, PortRange, RuleHost, WatchAction, WatchPurpose, WatchRule,
};
