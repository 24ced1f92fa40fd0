//! The reasons why packets are not tagged, not stripped or not measured, as text.

use std::fmt;

use super::text::Grouped;
use crate::model::Reason;
use crate::model::reasons::Topic;

/// Writes a paragraph for each topic that has reasons.
pub fn write(f: &mut fmt::Formatter<'_>, reasons: &[Reason]) -> fmt::Result {
    let mut topic = None;
    for reason in reasons {
        if topic.replace(reason.topic) != Some(reason.topic) {
            writeln!(
                f,
                "why packets are not {}:",
                match reason.topic {
                    Topic::Tagging => "tagged",
                    Topic::Stripping => "stripped",
                    Topic::Measuring => "measured or reported",
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
