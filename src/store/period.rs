//! The periods of roll-ups, and the keys of their rows.

const NS_PER_S: u64 = 1_000_000_000;

/// The bits of a key that name the subject: enough for more flows than any store has.
const SUBJECT_BITS: u32 = 33;
pub const MAX_SUBJECT: i64 = (1 << SUBJECT_BITS) - 1;

/// The length of a roll-up's periods.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum RollUpLevel {
    TenSeconds,
    Minute,
    Hour,
}

/// The kind of subjects of a roll-up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RollUpTable {
    Flow,
    Pair,
    /// Classes of traffic; subject 0 stands for all reports.
    Class,
    /// Paths of pairs, and their segments.
    Segment,
    /// Paths of flows, and their segments.
    FlowSegment,
}

/// The subject of [`RollUpTable::Class`] that stands for all reports.
pub const ALL: i64 = 0;

impl RollUpLevel {
    pub const EACH: [Self; 3] = [Self::TenSeconds, Self::Minute, Self::Hour];

    pub fn ns(self) -> u64 {
        match self {
            Self::TenSeconds => 10 * NS_PER_S,
            Self::Minute => 60 * NS_PER_S,
            Self::Hour => 3600 * NS_PER_S,
        }
    }

    /// Returns the name of the fact that tells until when rows were removed.
    pub fn gone(self) -> &'static str {
        match self {
            Self::TenSeconds => "gone_10s_ns",
            Self::Minute => "gone_1m_ns",
            Self::Hour => "gone_1h_ns",
        }
    }

    /// Returns the beginning of the period around a time.
    pub fn floor(self, time_ns: u64) -> u64 {
        time_ns - time_ns % self.ns()
    }

    /// Returns the beginning of the first period that begins at this time or later.
    pub fn ceil(self, time_ns: u64) -> u64 {
        self.floor(time_ns.saturating_add(self.ns() - 1))
    }

    /// Returns the key of a subject's row in the period around a time. The rows of a period are consecutive, in the
    /// order of their subjects.
    pub fn key(self, time_ns: u64, subject: i64) -> i64 {
        // Signed nanoseconds end in the year 2262.
        let time_ns = time_ns.min(i64::MAX as u64);
        ((time_ns / self.ns()) as i64) << SUBJECT_BITS | subject
    }

    /// Returns the beginning of a row's period.
    pub fn begin_of(self, key: i64) -> u64 {
        (key.max(0) >> SUBJECT_BITS) as u64 * self.ns()
    }

    /// Returns the end and the beginning of a row's period.
    pub fn period_of(self, key: i64) -> (u64, u64) {
        let begin_ns = self.begin_of(key);
        (begin_ns + self.ns(), begin_ns)
    }
}

/// Returns the subject of a row.
pub fn subject_of(key: i64) -> i64 {
    key & MAX_SUBJECT
}

impl RollUpTable {
    pub const EACH: [Self; 5] = [
        Self::Flow,
        Self::Pair,
        Self::Class,
        Self::Segment,
        Self::FlowSegment,
    ];

    /// Those of reports.
    pub const OF_REPORTS: [Self; 3] = [Self::Flow, Self::Pair, Self::Class];

    /// Those of paths, whose rows have all places of a path.
    pub const OF_PATHS: [Self; 2] = [Self::Segment, Self::FlowSegment];

    /// Returns the table's name in the file.
    pub fn name(self, level: RollUpLevel) -> &'static str {
        match (self, level) {
            (Self::Flow, RollUpLevel::TenSeconds) => "flow_10s",
            (Self::Flow, RollUpLevel::Minute) => "flow_1m",
            (Self::Flow, RollUpLevel::Hour) => "flow_1h",
            (Self::Pair, RollUpLevel::TenSeconds) => "pair_10s",
            (Self::Pair, RollUpLevel::Minute) => "pair_1m",
            (Self::Pair, RollUpLevel::Hour) => "pair_1h",
            (Self::Class, RollUpLevel::TenSeconds) => "class_10s",
            (Self::Class, RollUpLevel::Minute) => "class_1m",
            (Self::Class, RollUpLevel::Hour) => "class_1h",
            (Self::Segment, RollUpLevel::TenSeconds) => "segment_10s",
            (Self::Segment, RollUpLevel::Minute) => "segment_1m",
            (Self::Segment, RollUpLevel::Hour) => "segment_1h",
            (Self::FlowSegment, RollUpLevel::TenSeconds) => "flow_segment_10s",
            (Self::FlowSegment, RollUpLevel::Minute) => "flow_segment_1m",
            (Self::FlowSegment, RollUpLevel::Hour) => "flow_segment_1h",
        }
    }
}
