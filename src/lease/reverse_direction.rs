//! What reverse probes showed of the path from a sink's host.

/// Whether packets from the sink's host to this one arrive from another address. What was seen holds until the contrary is
/// seen: a daemon that stands still sends no reverse probes.
#[derive(Default)]
pub(super) struct ReverseDirection {
    /// The last round of probes that began, even if it has ended.
    last_round: u64,
    is_translated: bool,
    /// All stray packets of the last round that had some arrived.
    stray_arrived: bool,
}

impl ReverseDirection {
    pub(super) fn begin(&mut self, round: u64) {
        self.last_round = round;
    }

    /// True if this round of probes is open, or was the last one.
    pub(super) fn is_last_round(&self, round: u64) -> bool {
        round != 0 && self.last_round == round
    }

    pub(super) fn is_translated(&self) -> bool {
        self.is_translated
    }

    pub(super) fn note(&mut self, translated: bool) {
        self.is_translated = translated;
    }

    /// Notes the number of stray packets of a round that never arrived.
    pub(super) fn note_stray(&mut self, missing: u8) {
        self.stray_arrived = missing == 0;
    }

    /// True if stray packets failed only because packets were translated, which they are no more.
    pub(super) fn alone_is_in_the_way(&self) -> bool {
        self.stray_arrived && !self.is_translated
    }
}
