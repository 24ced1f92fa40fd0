//! The receivers of a sink's reports, checked.

use super::mistake::{Fault, fault, item_fault};
use super::place::port_of;
use crate::model::REPORT_PORT;

/// The number of report ports that the kernel half can hold, including the default one; datapath::host compares it.
pub const MAX_REPORT_PORTS: usize = 8;

/// Most collectors that a sink can spread its reports over.
pub const MAX_SPREAD: usize = 64;

pub(super) fn check_receivers(
    collectors: &[String],
    to_sender: Option<u16>,
    faults: &mut Vec<Fault>,
) {
    let mut ports = vec![REPORT_PORT];
    for (i, name) in collectors.iter().enumerate() {
        match port_of(name, REPORT_PORT) {
            Ok(0) => faults.push(item_fault(
                "collector",
                i,
                format!("cannot use collector {name}: reports cannot be sent to port 0"),
            )),
            Ok(port) => ports.push(port),
            Err(why) => faults.push(item_fault(
                "collector",
                i,
                format!(
                    "cannot use collector {name}: {why} (expected HOST, HOST:PORT or [IPV6]:PORT)"
                ),
            )),
        }
    }
    if to_sender == Some(0) {
        faults.push(fault(
            &["report-to-sender"],
            "reports cannot be sent to port 0",
        ));
    }
    ports.extend(to_sender);
    ports.sort_unstable();
    ports.dedup();
    if ports.len() > MAX_REPORT_PORTS {
        faults.push(fault(
            &["collector", "report-to-sender"],
            format!(
                "{} different report ports, the default one included: {MAX_REPORT_PORTS} are possible",
                ports.len()
            ),
        ));
    }
}

/// The UDP destination ports of all reports, including the default one.
pub fn report_ports(given: impl Iterator<Item = u16>) -> Vec<u16> {
    let mut ports: Vec<u16> = given.chain([REPORT_PORT]).collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

pub(super) fn check_spread(spread: bool, collectors: &[String], faults: &mut Vec<Fault>) {
    if spread && collectors.is_empty() {
        faults.push(fault(
            &["spread"],
            "there is no collector to spread reports over (try collector too, or leave spread out)",
        ));
    }
    if spread && collectors.len() > MAX_SPREAD {
        faults.push(fault(
            &["collector", "spread"],
            format!(
                "{} collectors: reports can be spread over {MAX_SPREAD}",
                collectors.len()
            ),
        ));
    }
}
