//! What an engine answers when it is given a parcel.

/// The engine has taken the parcel, but for some reports.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Accepted {
    /// The number of reports that it refused.
    pub refused: usize,
    pub why: Option<String>,
}

/// The reason why an engine does not have a parcel, and what to try.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trouble {
    /// The engine may take the parcel later.
    Later(String),
    /// The engine will never take the parcel.
    Refused(String),
}
