//! The periods that roll-ups are of, and the keys of their rows.

const NS_PER_S: u64 = 1_000_000_000;

/// Bits of a key that name the subject: more flows than any store sees.
const SUBJECT_BITS: u32 = 33;
pub const MAX_SUBJECT: i64 = (1 << SUBJECT_BITS) - 1;

/// How long the periods of a roll-up are.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Level {
    TenSeconds,
    Minute,
    Hour,
}

/// Whose figures a roll-up has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Table {
    Flow,
    Pair,
    /// Subject 0 is all reports.
    Class,
}

/// All reports, as a subject of [`Table::Class`].
pub const ALL: i64 = 0;

impl Level {
    pub const EACH: [Self; 3] = [Self::TenSeconds, Self::Minute, Self::Hour];

    pub fn ns(self) -> u64 {
        match self {
            Self::TenSeconds => 10 * NS_PER_S,
            Self::Minute => 60 * NS_PER_S,
            Self::Hour => 3600 * NS_PER_S,
        }
    }

    /// The name of the fact up to when rows were taken away.
    pub fn gone(self) -> &'static str {
        match self {
            Self::TenSeconds => "gone_10s_ns",
            Self::Minute => "gone_1m_ns",
            Self::Hour => "gone_1h_ns",
        }
    }

    /// Where the period around a time begins.
    pub fn floor(self, time_ns: u64) -> u64 {
        time_ns - time_ns % self.ns()
    }

    /// Where the first period begins that begins at this time or later.
    pub fn ceil(self, time_ns: u64) -> u64 {
        self.floor(time_ns.saturating_add(self.ns() - 1))
    }

    /// The key of a subject's row in the period around a time: rows of a period lie together, in order of subjects.
    pub fn key(self, time_ns: u64, subject: i64) -> i64 {
        // Until the year 2262, as signed nanoseconds are.
        let time_ns = time_ns.min(i64::MAX as u64);
        ((time_ns / self.ns()) as i64) << SUBJECT_BITS | subject
    }

    /// When the period of a row begins.
    pub fn begin_of(self, key: i64) -> u64 {
        (key.max(0) >> SUBJECT_BITS) as u64 * self.ns()
    }
}

/// The subject of a row.
pub fn subject_of(key: i64) -> i64 {
    key & MAX_SUBJECT
}

impl Table {
    pub const EACH: [Self; 3] = [Self::Flow, Self::Pair, Self::Class];

    /// The table's name in the file.
    pub fn name(self, level: Level) -> &'static str {
        match (self, level) {
            (Self::Flow, Level::TenSeconds) => "flow_10s",
            (Self::Flow, Level::Minute) => "flow_1m",
            (Self::Flow, Level::Hour) => "flow_1h",
            (Self::Pair, Level::TenSeconds) => "pair_10s",
            (Self::Pair, Level::Minute) => "pair_1m",
            (Self::Pair, Level::Hour) => "pair_1h",
            (Self::Class, Level::TenSeconds) => "class_10s",
            (Self::Class, Level::Minute) => "class_1m",
            (Self::Class, Level::Hour) => "class_1h",
        }
    }
}
