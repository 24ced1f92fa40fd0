//! The reasons why packets are not tagged, not stripped or not measured, as text.

use std::fmt;

use crate::model::{Reason, ReasonTopic};
use crate::views::text::Grouped;

/// Writes a paragraph for each topic that has reasons.
pub fn write(f: &mut fmt::Formatter<'_>, reasons: &[Reason]) -> fmt::Result {
    let mut topic = None;
    for reason in reasons {
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
        if let Some(count) = reason.count {
            write!(f, "{} ", Grouped(count))?;
        }
        writeln!(f, "{}: {}", reason.text, reason.advice)?;
    }
    Ok(())
}
