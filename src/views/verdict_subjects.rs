//! Nodes, labels, classes and shares, as the sentences of a verdict call them.

use crate::model::{CauseSubject, NodeId};

/// How a node is called in a sentence.
pub type Called<'a> = &'a dyn Fn(NodeId) -> String;

/// A share with two significant digits, `2.1 %`.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    let digits = match value {
        0.0 => 0,
        value if value >= 9.95 => 0,
        value if value >= 0.995 => 1,
        value if value >= 0.0995 => 2,
        value if value >= 0.00995 => 3,
        _ => 4,
    };
    let text = format!("{value:.digits$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{text} %")
}

/// The subject that is a class or a label, as people call it.
pub fn subject_text(subject: &CauseSubject, called: Called<'_>) -> String {
    match subject {
        CauseSubject::Node(node) => called(*node),
        CauseSubject::Label { label, value } => format!("{label} {value}"),
        CauseSubject::Class(Some(class)) => format!("class {class}"),
        CauseSubject::Class(None) => "packets without a class".to_owned(),
    }
}
