//! The reasons why packets are not tagged, not stripped or not measured, as text.

use std::fmt;

use crate::model::{Reason, ReasonTopic};
use crate::views::digits::Grouped;

/// Writes a paragraph for each topic that has reasons; those that are over are shown only with `all`.
pub fn write(f: &mut fmt::Formatter<'_>, reasons: &[Reason], all: bool) -> fmt::Result {
    let mut topic = None;
    for reason in reasons.iter().filter(|reason| all || !reason.is_over()) {
        if topic.replace(reason.topic) != Some(reason.topic) {
            writeln!(
                f,
                "why packets are not {}:",
                match reason.topic {
                    ReasonTopic::Tagging => "tagged",
                    ReasonTopic::Pushing => "given an entry by the transit hop",
                    ReasonTopic::Stripping => "stripped",
                    ReasonTopic::Measuring => "measured or reported",
                }
            )?;
        }
        write!(f, "  ")?;
        let (count, since) = reason.number();
        if let Some(count) = count {
            write!(f, "{} ", Grouped(count))?;
        }
        writeln!(f, "{}{since}: {}", reason.text, reason.advice)?;
    }
    Ok(())
}
