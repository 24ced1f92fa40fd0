//! Rules for destinations that give no leases, where the source leaves the form of its packets to leases.

use super::source::SourceOptions;
use super::source_encapsulation::{FORM_UNKNOWN, SourceEncapsulation};
use super::source_hook::SourceHook;
use crate::model::WatchRule;

/// Returns why a source cannot leave the form to leases, if it does and these rules contradict it.
pub fn check(source: &SourceOptions, rules: &[WatchRule]) -> Option<String> {
    let is_left_to_leases = source
        .encap
        .is_none_or(SourceEncapsulation::is_left_to_leases);
    // XDP can do nothing else than extension-udp.
    let names_form =
        !is_left_to_leases || source.compat.is_some() || source.hook == Some(SourceHook::Xdp);
    if source.dev.is_empty() || names_form || !rules.iter().any(|rule| rule.fixed) {
        return None;
    }
    let why = format!("destinations are watched with static = true: {FORM_UNKNOWN}");
    Some(why)
}
