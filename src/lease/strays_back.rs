//! What the strays of a sink's host showed of the path from there.

use crate::model::{ProbeForm, TunnelObstacle};

/// Of each kind of strays, the numbers: segments with ACK, those with SYN and ACK, and datagrams.
const KINDS: [u16; 3] = [0x055, 0x0aa, 0xf00];
const _: () = assert!(KINDS[0] | KINDS[1] | KINDS[2] == (1 << ProbeForm::STRAYS_BACK) - 1);

/// Strays are awaited for this time. Those that come later open tunnels then.
const PATIENCE_NS: u64 = 1_000_000_000;
/// The same while tunnels are open: longer than answers tell of a daemon that has ended.
const REPEATED_PATIENCE_NS: u64 = 4_000_000_000;

/// The strays of the last round of probes that had some. They count only if they arrive from the address that they were
/// sent from.
#[derive(Default)]
pub(super) struct StraysBack {
    round: u64,
    arrived: u16,
    is_translated: bool,
    /// One stray of each kind is enough: all of them arrived in an earlier round, and this one may have lost some by chance.
    is_repeated: bool,
    /// All strays of this host reached the sink in the round.
    all_went: bool,
}

impl StraysBack {
    pub(super) fn begin(&mut self, round: u64, is_repeated: bool) {
        *self = Self {
            round,
            is_repeated,
            ..Self::default()
        };
    }

    /// True if the round is open, or was the last one.
    pub(super) fn is_last_round(&self, round: u64) -> bool {
        round != 0 && self.round == round
    }

    /// Notes a stray that arrived from the address it was sent from, or from another one.
    pub(super) fn note(&mut self, number: u8, is_translated: bool) {
        if is_translated {
            self.is_translated = true;
        } else if number < ProbeForm::STRAYS_BACK {
            self.arrived |= 1 << number;
        }
    }

    /// Notes how many strays of this host never arrived.
    pub(super) fn note_went(&mut self, missing: u8) {
        self.all_went = missing == 0;
    }

    /// True if enough strays arrived.
    pub(super) fn are_enough(&self) -> bool {
        let is_enough = |kind: &u16| match self.is_repeated {
            true => self.arrived & kind != 0,
            false => self.arrived & kind == *kind,
        };
        KINDS.iter().all(is_enough)
    }

    /// The time for which strays are awaited after all probes were sent.
    pub(super) fn patience_ns(&self) -> u64 {
        match (self.are_enough(), self.is_repeated) {
            (true, _) => 0,
            (_, false) => PATIENCE_NS,
            (_, true) => REPEATED_PATIENCE_NS,
        }
    }

    /// What the strays of both directions say.
    pub(super) fn obstacle(&self) -> TunnelObstacle {
        match (self.all_went, self.are_enough()) {
            (true, true) => TunnelObstacle::None,
            (_, false) if self.is_translated => TunnelObstacle::Translates,
            (false, true) => TunnelObstacle::DropsTo,
            (true, false) => TunnelObstacle::DropsFrom,
            (false, false) => TunnelObstacle::DropsBoth,
        }
    }
}
