//! Bytes as hexadecimal digits in JSON.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

pub(in crate::model) fn serialize<S: Serializer>(
    bytes: &[u8],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    serializer.serialize_str(&digits)
}

pub(in crate::model) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<u8>, D::Error> {
    let digits = String::deserialize(deserializer)?;
    let digits: Option<Vec<_>> = digits.chars().map(|digit| digit.to_digit(16)).collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => Ok(digits
            .chunks(2)
            .map(|pair| (pair[0] << 4 | pair[1]) as u8)
            .collect()),
        _ => Err(D::Error::custom("expected pairs of hexadecimal digits")),
    }
}
