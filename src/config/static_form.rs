//! Rules for destinations that give no leases, where the source leaves the form of its packets to leases.

use super::file::File;
use super::mistake::Mistake;
use super::{FORM_UNKNOWN, SourceEncapsulation, SourceHook};
use crate::model::WatchPurpose;

/// Returns the mistake of a file whose source and rules contradict each other in this way.
pub fn check(file: &File) -> Option<Mistake> {
    let source = &file.source.options;
    let is_left_to_leases = source
        .encap
        .is_none_or(SourceEncapsulation::is_left_to_leases);
    // XDP can do nothing else than extension-udp.
    let names_form =
        !is_left_to_leases || source.compat.is_some() || source.hook == Some(SourceHook::Xdp);
    let rules = File::rules_for(Some(file), WatchPurpose::Int);
    if source.dev.is_empty() || names_form || !rules.iter().any(|rule| rule.fixed) {
        return None;
    }
    let why = format!("destinations are watched with static = true: {FORM_UNKNOWN}");
    Some(file.source.mistake_at(&file.path, "encap", why))
}
