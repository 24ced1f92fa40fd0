//! Reads the reports of a history again.

use crate::collector::decode;
use crate::model::{DropReasons, Record};
use crate::store::{Decode, Evidence};

/// Reads reports again, with these names of drop reasons.
pub fn decoder(reasons: DropReasons) -> Decode {
    Box::new(move |evidence| read_again(evidence, &reasons))
}

fn read_again(evidence: &Evidence<'_>, reasons: &DropReasons) -> Option<Record> {
    if evidence.bytes.first() == Some(&b'{') {
        return Record::read_line(evidence.bytes).ok();
    }
    let group = decode(evidence.bytes).ok()?;
    let report = group.reports.get(evidence.part)?;
    let record = Record::new(report, evidence.arrival);
    Some(record.with_names(reasons).in_class(evidence.class))
}
