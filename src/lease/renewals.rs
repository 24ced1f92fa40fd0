//! The kinds of questions that renew a lease: short ones while nothing changes, and full ones.

use super::questions::QuestionKind;

/// A full question is asked at least this often, and twice as often at most, although the digest in short answers shows
/// changes: two digests may be the same by chance.
const FULL_NS: u64 = 60_000_000_000;

/// What is known of a peer's last full answer.
#[derive(Default)]
pub(super) struct Renewals {
    /// Its digest, and the time of the next full question.
    full: Option<(u32, u64)>,
}

impl Renewals {
    /// Returns the kind of question to ask now. `full`: only a full question will do.
    pub(super) fn kind(&self, full: bool, now_ns: u64) -> QuestionKind {
        let due = self.full.is_none_or(|(_, again_ns)| now_ns >= again_ns);
        match full || due {
            true => QuestionKind::Full,
            false => QuestionKind::Short,
        }
    }

    /// Lets the next question be a full one.
    pub(super) fn ask_full(&mut self) {
        self.full = None;
    }

    /// Takes an answer to a full question with this nonce.
    pub(super) fn note_full(&mut self, digest: u32, nonce: u64, now_ns: u64) {
        // Those of many peers that are asked at the same time now are not asked so ever after.
        let early_ns = nonce % (FULL_NS / 2);
        self.full = Some((digest, now_ns + FULL_NS - early_ns));
    }

    /// Takes an answer to a short question. Returns false if what it has no room for may have changed: then a full question
    /// comes next.
    pub(super) fn note_short(&mut self, digest: u32) -> bool {
        let is_same = self.full.is_some_and(|(known, _)| known == digest);
        if !is_same {
            self.full = None;
        }
        is_same
    }
}
