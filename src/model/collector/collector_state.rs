//! Whether a collector answers a sink's probes.

/// The state of a collector.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CollectorState {
    /// It has never answered, and no ICMP error says that it is gone. Collectors other than hostint's never answer.
    #[default]
    Unprobed,
    Answers,
    Silent,
}

impl CollectorState {
    pub const ALL: [Self; 3] = [Self::Unprobed, Self::Answers, Self::Silent];

    pub fn name(self) -> &'static str {
        match self {
            Self::Unprobed => "unprobed",
            Self::Answers => "answers",
            Self::Silent => "silent",
        }
    }
}
