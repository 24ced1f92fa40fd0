//! The version of leases that a peer speaks: both are asked until one is known.

use super::questions::QuestionKind;
use crate::model::LeaseAnswer;

/// A peer that speaks version 1 is asked for version 2 again after this time.
const AGAIN_NS: u64 = 60_000_000_000;
/// A full question is asked at least this often, and twice as often at most, although the digest in short answers tells of changes: two digests may be
/// the same by chance.
const FULL_NS: u64 = 60_000_000_000;
/// The first version of hostint whose sink speaks version 2.
const SPEAKS_TWO: (u8, u8) = (0, 2);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Version {
    One,
    Two,
}

/// The meaning of a reply for the version that is spoken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Heard {
    /// The sink grants or refuses in this version.
    Answer,
    /// There is no sink.
    NoSink,
    /// The reply in the other version decides.
    Nothing,
}

/// What is known of a peer's versions.
#[derive(Default)]
pub(super) struct Versions {
    known: Option<Version>,
    /// The host echoed the question of this version unchanged.
    one_is_echoed: bool,
    two_is_echoed: bool,
    software: Option<(u8, u8)>,
    /// The time of the last question of version 2; 0: none.
    two_asked_ns: u64,
    /// The digest of the last full answer, and the time of the next full question.
    full: Option<(u32, u64)>,
}

impl Versions {
    pub(super) fn adopt(&mut self, version: u8) {
        self.known = match version {
            1 => Some(Version::One),
            2 => Some(Version::Two),
            _ => None,
        };
    }

    /// Returns the kinds of questions to ask now. `full`: only a full question will do.
    pub(super) fn kinds(
        &mut self,
        full: bool,
        now_ns: u64,
    ) -> (QuestionKind, Option<QuestionKind>) {
        let kinds = match self.known {
            Some(Version::Two) => {
                let due = self.full.is_none_or(|(_, again_ns)| now_ns >= again_ns);
                if full || due {
                    (QuestionKind::Full, None)
                } else {
                    (QuestionKind::Short, None)
                }
            }
            Some(Version::One)
                if self.two_asked_ns != 0
                    && now_ns.saturating_sub(self.two_asked_ns) < AGAIN_NS =>
            {
                (QuestionKind::One, None)
            }
            Some(Version::One) | None => (QuestionKind::One, Some(QuestionKind::Full)),
        };
        if kinds.1.is_some() {
            self.two_asked_ns = now_ns;
        }
        kinds
    }

    /// Lets the next question of version 2 be a full one.
    pub(super) fn ask_full(&mut self) {
        self.full = None;
    }

    /// Takes a reply of version 1.
    pub(super) fn note_one(&mut self, answer: Option<&LeaseAnswer>) -> Heard {
        match (self.known, answer) {
            (Some(Version::Two), _) => Heard::Nothing,
            (known, None) => {
                self.one_is_echoed = true;
                self.known = None;
                match known {
                    Some(_) => Heard::NoSink,
                    None if self.two_is_echoed => Heard::NoSink,
                    None => Heard::Nothing,
                }
            }
            (_, Some(answer)) if answer.software >= SPEAKS_TWO => {
                self.ask_both();
                Heard::Nothing
            }
            (_, Some(answer)) => {
                let before = self.software.replace(answer.software);
                if before.is_some_and(|before| before != answer.software) {
                    self.two_asked_ns = 0;
                }
                self.known = Some(Version::One);
                self.one_is_echoed = false;
                Heard::Answer
            }
        }
    }

    /// A peer that spoke version 1 has been upgraded.
    fn ask_both(&mut self) {
        if self.known == Some(Version::One) {
            self.known = None;
            self.one_is_echoed = false;
            self.two_is_echoed = false;
        }
    }

    /// Takes an answer to a full question with this nonce.
    pub(super) fn note_full(&mut self, digest: u32, nonce: u64, now_ns: u64) -> Heard {
        self.known = Some(Version::Two);
        self.one_is_echoed = false;
        self.two_is_echoed = false;
        // Those of many peers that are asked at the same time now are not asked so ever after.
        let early_ns = nonce % (FULL_NS / 2);
        self.full = Some((digest, now_ns + FULL_NS - early_ns));
        Heard::Answer
    }

    /// Takes an answer to a short question. What it has no room for may have changed: then a full one is asked.
    pub(super) fn note_short(&mut self, digest: u32) -> Heard {
        match self.full {
            Some((known, _)) if known == digest => Heard::Answer,
            _ => {
                self.full = None;
                Heard::Nothing
            }
        }
    }

    /// Takes an echo of a question of version 2 that no sink answered.
    pub(super) fn note_two_echoed(&mut self) -> Heard {
        match self.known {
            Some(Version::One) => Heard::Nothing,
            Some(Version::Two) => {
                *self = Self {
                    two_is_echoed: true,
                    ..Self::default()
                };
                Heard::NoSink
            }
            None => {
                self.two_is_echoed = true;
                if self.one_is_echoed {
                    Heard::NoSink
                } else {
                    Heard::Nothing
                }
            }
        }
    }
}
