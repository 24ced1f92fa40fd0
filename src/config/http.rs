//! Addresses on which daemons serve HTTP.

use super::mistake::{Fault, fault};
use super::place::port_of;

/// The default TCP ports. They are below the kernel's ephemeral ports and differ, so that one host can be sink,
/// collector and more.
pub const AGENT_HTTP_PORT: u16 = 13275;
pub const SINK_HTTP_PORT: u16 = 13276;
pub const COLLECT_HTTP_PORT: u16 = 13277;
pub const POSTCARDS_HTTP_PORT: u16 = 13278;
pub const TRANSIT_HTTP_PORT: u16 = 13279;
pub const TCP_HTTP_PORT: u16 = 13280;

pub(super) fn check_http(given: Option<&str>, default_port: u16, faults: &mut Vec<Fault>) {
    let Some(text) = given else {
        return;
    };
    if let Err(why) = port_of(text, default_port) {
        faults.push(fault(
            &["http"],
            format!("cannot serve HTTP on {text}: {why} (try 127.0.0.1:{default_port})"),
        ));
    }
}
