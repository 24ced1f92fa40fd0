//! This host's tagging, which its questions describe.

use anyhow::Result;

use crate::config::DscpMark;
use crate::datapath::host::settings_status;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::source::source_links::RunningSource;
use crate::lease::{OwnTagging, Tagging};

/// This host as its questions describe it.
pub(super) fn of(pins: &Pins, attached: &[RunningSource]) -> Result<OwnTagging> {
    let tagging = attached.iter().map(|attachment| {
        let (encapsulations, marks) = attachment.tagging();
        Tagging {
            encapsulations,
            marks,
            explicit: attachment.explicit_encapsulation(),
            max_hops: attachment.max_hops(),
            int_tos_value: attachment.config().int_dscp.map_or(0, DscpMark::tos_value),
            is_mx: attachment.config().mx_sample.is_some(),
        }
    });
    Ok(OwnTagging {
        node: settings_status::node(pins)?.unwrap_or_default().id,
        tagging: tagging.collect(),
    })
}
