//! Whether a collector is there, as far as it answers a sink's probes.

/// What is known of a collector.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CollectorState {
    /// It never answered, as others than hostint never do, and nobody says that it is not there.
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
