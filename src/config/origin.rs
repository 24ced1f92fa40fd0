//! The flag or variable that a setting came from.

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Origin {
    Flag(String),
    Variable(String),
}
