//! Conversion of a config file's value to the word that its flag would be given.

use std::any::TypeId;
use std::ops::Range;

use clap::{Arg, ArgAction};
use toml::Spanned;
use toml::de::DeValue;

use super::duration::TimeSpan;
use crate::model::PortRange;

/// The type of value that a setting takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ValueKind {
    Text,
    Time,
    Number,
    NumberOrText,
    Truth,
}

impl ValueKind {
    fn of(arg: &Arg) -> Self {
        let id = arg.get_value_parser().type_id();
        let numbers = [
            TypeId::of::<u8>(),
            TypeId::of::<u16>(),
            TypeId::of::<u32>(),
            TypeId::of::<u64>(),
        ];
        if id == TypeId::of::<bool>() {
            Self::Truth
        } else if id == TypeId::of::<TimeSpan>() {
            Self::Time
        } else if id == TypeId::of::<PortRange>() {
            Self::NumberOrText
        } else if numbers.iter().any(|number| id == *number) {
            Self::Number
        } else {
            Self::Text
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Time => "a time with its unit, such as \"200ms\"",
            Self::Number => "a number",
            Self::NumberOrText => "a number or a range such as \"8000-8099\"",
            Self::Truth => "true or false",
        }
    }
}

/// One word for a flag, and its line.
pub struct Word {
    pub span: Range<usize>,
    pub text: String,
}

/// Why a value does not fit a setting.
pub struct Misfit {
    pub span: Range<usize>,
    pub message: String,
}

/// Whether a setting is true or false.
pub fn is_truth(arg: &Arg) -> bool {
    ValueKind::of(arg) == ValueKind::Truth
}

/// Whether a setting is a list.
pub fn is_list(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
}

/// The words that a value gives its flag, and the misfits in it.
pub fn words(arg: &Arg, value: &Spanned<DeValue<'_>>) -> (Vec<Word>, Vec<Misfit>) {
    let (mut words, mut misfits) = (Vec::new(), Vec::new());
    let kind = ValueKind::of(arg);
    let expected = expected(arg, kind);
    let mut take = |value: &Spanned<DeValue<'_>>| match word(kind, &expected, value.get_ref()) {
        Ok(text) => words.push(Word {
            span: value.span(),
            text,
        }),
        Err(message) => misfits.push(Misfit {
            span: value.span(),
            message,
        }),
    };
    match value.get_ref() {
        DeValue::Array(items) if is_list(arg) => {
            items.iter().for_each(&mut take);
            if items.is_empty() {
                misfits.push(Misfit {
                    span: value.span(),
                    message: "an empty list has no effect (try to leave the key out)".to_owned(),
                });
            }
        }
        _ => take(value),
    }
    (words, misfits)
}

/// The values that a setting may have, if they are few and have names, and their type if not.
fn expected(arg: &Arg, kind: ValueKind) -> String {
    let names = arg.get_possible_values();
    let names = names.iter().map(|value| format!("{:?}", value.get_name()));
    let names: Vec<String> = names.collect();
    match kind {
        ValueKind::Text if !names.is_empty() => either(&names),
        _ => kind.name().to_owned(),
    }
}

fn word(kind: ValueKind, expected: &str, value: &DeValue<'_>) -> Result<String, String> {
    match (kind, value) {
        (ValueKind::Text | ValueKind::Time | ValueKind::NumberOrText, DeValue::String(text))
            if text.is_empty() =>
        {
            Err(format!("an empty string (expected {expected})"))
        }
        (ValueKind::Text | ValueKind::Time | ValueKind::NumberOrText, DeValue::String(text)) => {
            Ok(text.to_string())
        }
        (ValueKind::Number | ValueKind::NumberOrText, DeValue::Integer(number)) => {
            Ok(decimal(number))
        }
        (ValueKind::Truth, DeValue::Boolean(on)) => Ok(on.to_string()),
        (ValueKind::Text, DeValue::Integer(number)) => {
            Err(format!("a number (expected {expected}; try \"{number}\")"))
        }
        (ValueKind::Number, DeValue::String(text)) if is_number(text) => Err(format!(
            "a string (expected {expected}; try {text} without quotes)"
        )),
        (ValueKind::Truth, DeValue::String(text)) if text == "true" || text == "false" => Err(
            format!("a string (expected {expected}; try {text} without quotes)"),
        ),
        (ValueKind::Text, DeValue::Boolean(on)) => {
            Err(format!("{on} without quotes (expected {expected})"))
        }
        (_, value) => Err(format!("{} (expected {expected})", kind_of(value))),
    }
}

/// Names, one of which is to be chosen.
pub fn either(names: &[String]) -> String {
    match names {
        [one] => one.clone(),
        [all @ .., last] => format!("{} or {last}", all.join(", ")),
        [] => String::new(),
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn decimal(number: &toml::de::DeInteger<'_>) -> String {
    match i128::from_str_radix(number.as_str(), number.radix()) {
        Ok(number) => number.to_string(),
        // The number is longer than any setting, and is refused with its digits.
        Err(_) => number.to_string(),
    }
}

/// The type of a value, as messages name it.
pub fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A value as text; equal values have equal texts.
pub fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => decimal(number),
        DeValue::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| shown(item.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        other => format!("{other:?}"),
    }
}
