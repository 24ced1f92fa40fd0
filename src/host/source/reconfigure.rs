//! Gives attached sources other settings, all of them or none.

use anyhow::Result;

use super::ROLE;
use super::attach::{attach_dev, reattach};
use crate::config::{ConfigError, File, Mistake, SourceSetup};
use crate::datapath::kernel::pins::Pins;
use crate::datapath::source::{source_links, source_status};
use crate::host::advice::advise;
use crate::model::{HostNode, RuleHost};
use crate::os::log;

/// Refuses settings that cannot change while a source is attached.
///
/// # Errors
/// All of these settings, each with its line of the config file.
pub fn refuse(pins: &Pins, setup: &SourceSetup, file: Option<&File>) -> Result<()> {
    let mut mistakes: Vec<Mistake> = Vec::new();
    let mut refuse = |key: &str, why: String| {
        mistakes.push(match file {
            Some(file) => file.source.mistake_at(&file.path, key, why),
            None => why.into(),
        });
    };
    let capacity = source_status::flow_capacity(pins).map_err(advise)?;
    if let (Some(wanted), Some(capacity)) = (setup.source.max_flows, capacity)
        && wanted != capacity
    {
        refuse(
            "max-flows",
            format!(
                "the flow table has room for {capacity} flows while the source is attached, and cannot grow or shrink \
                 (try hostint source detach, then attach it again)",
            ),
        );
    }
    for attached in source_links::attachments(pins).map_err(advise)? {
        let (dev, hook) = (&attached.dev, attached.hook);
        if setup.devs.contains(dev) && hook != setup.source.hook {
            refuse(
                "hook",
                format!(
                    "the source is attached to {dev} at hook {}, which cannot change in place \
                     (try hostint source detach --dev {dev}, then attach it again)",
                    hook.name()
                ),
            );
        }
    }
    if mistakes.is_empty() {
        return Ok(());
    }
    Err(ConfigError(mistakes).into())
}

/// Gives sources other settings: all of them, or none. Each program is replaced by another in place, so every
/// packet is tagged by the settings before or by the new ones.
///
/// # Errors
/// If one of them cannot be attached; those before it have their old settings again then.
pub fn reconfigure(
    pins: &Pins,
    setup: &SourceSetup,
    node: HostNode,
    dests: (&[RuleHost], bool),
) -> Result<()> {
    let before = source_links::attachments(pins)?;
    for (i, dev) in setup.devs.iter().enumerate() {
        let Err(err) = attach_dev(pins, dev, &setup.source, node, dests) else {
            continue;
        };
        for dev in setup.devs.iter().take(i + 1) {
            let back = match before.iter().find(|attached| attached.dev == *dev) {
                Some(attached) => reattach(pins, dev, &attached.config()),
                None => ROLE.leave(pins, std::slice::from_ref(dev)),
            };
            if let Err(err) = back {
                log::error(format_args!("cannot go back: {err:#}"));
            }
        }
        return Err(err);
    }
    Ok(())
}
