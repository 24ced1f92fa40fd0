//! Other settings for sources that are attached.

use anyhow::{Context, Result};

use super::attach::{again, attach_dev};
use crate::commands::{advise, tell_detached};
use crate::config::{ConfigError, File, Mistake, SourceSetup};
use crate::datapath::abi::{flow_key, source_flow};
use crate::datapath::maps::Map;
use crate::datapath::pins::Pins;
use crate::datapath::{map_names, peer, source_links};
use crate::model::{NodeId, Place};
use crate::os::log;

/// What cannot change while a source is attached.
///
/// # Errors
/// All of that which would have to.
pub fn refuse(pins: &Pins, setup: &SourceSetup, file: Option<&File>) -> Result<()> {
    let mut mistakes: Vec<Mistake> = Vec::new();
    let mut refuse = |key: &str, why: String| {
        mistakes.push(match file {
            Some(file) => file.source.mistake_at(&file.path, key, why),
            None => why.into(),
        });
    };
    let flows =
        Map::<flow_key, source_flow>::open(&pins.map(map_names::SOURCE_FLOWS)).map_err(advise)?;
    if let (Some(wanted), Some(flows)) = (setup.source.max_flows, flows)
        && wanted != flows.capacity()
    {
        refuse(
            "max-flows",
            format!(
                "the flow table has room for {} flows while the source is attached, and cannot grow or shrink \
                 (try hostint source detach, then attach it again)",
                flows.capacity()
            ),
        );
    }
    for (dev, hook, _) in source_links::attachments(pins).map_err(advise)? {
        if setup.devs.contains(&dev) && hook != setup.source.hook {
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
/// packet is tagged as before or as now.
///
/// # Errors
/// If one of them cannot be attached; those before it are as they were then.
pub fn reconfigure(
    pins: &Pins,
    setup: &SourceSetup,
    node: NodeId,
    dests: (&[Place], bool),
) -> Result<()> {
    let before = source_links::attachments(pins)?;
    for (i, dev) in setup.devs.iter().enumerate() {
        let Err(err) = attach_dev(pins, dev, &setup.source, node, dests) else {
            continue;
        };
        for dev in setup.devs.iter().take(i + 1) {
            let was = before.iter().find(|(name, _, _)| name == dev);
            let back = match was {
                Some((_, hook, info)) => again(pins, dev, *hook, info),
                None => leave(pins, std::slice::from_ref(dev)),
            };
            if let Err(err) = back {
                log::error(format_args!("cannot go back: {err:#}"));
            }
        }
        return Err(err);
    }
    Ok(())
}

/// Detaches from these interfaces.
pub fn leave(pins: &Pins, devs: &[String]) -> Result<()> {
    if devs.is_empty() {
        return Ok(());
    }
    let detached = peer::detach(pins, devs)
        .and_then(|()| source_links::detach(pins, devs))
        .map_err(advise)
        .context("cannot detach the source")?;
    for dev in detached {
        tell_detached("source", &dev);
    }
    Ok(())
}
