//! The sequence numbers in a flow's reports, which tell how many packets the flow sent.

/// The most packets that a flow sends in a second: a number that is further ahead belongs to another numbering.
const MOST_PER_S: u64 = 4_000_000;

/// The packets that a flow may send without a pause, and the distance by which a late report may be behind.
const SLACK: u32 = 1 << 16;

/// A flow that was quiet for longer may have been forgotten by its source and numbered anew.
const LONGEST_PAUSE_NS: u64 = 60 * NS_PER_S;

/// The most time by which reports overtake each other.
const LATE_NS: u64 = NS_PER_S;

const NS_PER_S: u64 = 1_000_000_000;

/// The highest number of a flow, and the time when it was seen.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SequenceNumbers(Option<(u32, u64)>);

impl SequenceNumbers {
    /// Takes the number of a packet that a report shows. Returns how many more packets the flow has sent.
    pub fn packet(&mut self, number: u32, time_ns: u64) -> u64 {
        match self.ahead(number, time_ns) {
            Some(ahead) => u64::from(ahead),
            None => {
                // This is the first number, or a new numbering.
                self.0 = Some((number, time_ns));
                1
            }
        }
    }

    /// Takes a report that `count` numbers up to `last` are missing. Returns how many more packets the flow has sent.
    pub fn missing(&mut self, last: u32, count: u32, time_ns: u64) -> u64 {
        let Some((head, _)) = self.0 else {
            self.0 = Some((last, time_ns));
            return count.into();
        };
        // The report may arrive after reports of later packets.
        let ahead = last.wrapping_sub(head).cast_signed() > 0;
        match ahead.then(|| self.ahead(last, time_ns)) {
            Some(Some(ahead)) => ahead.into(),
            // The numbers belong to an old numbering.
            Some(None) => count.into(),
            None => 0,
        }
    }

    /// Returns how far ahead a number is, 0 if it is late, or `None` if it belongs to another numbering.
    fn ahead(&mut self, number: u32, time_ns: u64) -> Option<u32> {
        let (head, head_ns) = self.0?;
        let ahead = number.wrapping_sub(head);
        if time_ns.saturating_add(LONGEST_PAUSE_NS) < head_ns {
            return None;
        }
        let pause_ns = time_ns.saturating_sub(head_ns);
        if ahead == 0 {
            self.0 = Some((head, head_ns.max(time_ns)));
            return Some(0);
        }
        if ahead.cast_signed() < 0 {
            let late = head.wrapping_sub(number) <= SLACK && pause_ns <= LATE_NS;
            return late.then_some(0);
        }
        let paused = pause_ns.min(LONGEST_PAUSE_NS);
        let most = u64::from(SLACK) + MOST_PER_S / 1000 * (paused / (NS_PER_S / 1000));
        if u64::from(ahead) > most {
            return None;
        }
        self.0 = Some((number, head_ns.max(time_ns)));
        Some(ahead)
    }
}
