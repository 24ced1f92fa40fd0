//! INT's exact loss beside the retransmissions of a connection: what it proves, and when it proves nothing.

use hostint::model::*;
use hostint_testing::random::Random;
use hostint_testing::report_samples;

/// A connection and INT's counts of its flow.
#[derive(Clone, Copy)]
struct Seen {
    state: ConnectionState,
    begins: bool,
    sent: u32,
    retransmitted: u32,
    arrived: u64,
    lost: u64,
    duplicates: u64,
    summaries: u64,
    behind_strip: u64,
}

/// Nothing was lost, and 100 segments of 1,000 were sent again.
const SEEN: Seen = Seen {
    state: ConnectionState::Ended,
    begins: true,
    sent: 1000,
    retransmitted: 100,
    arrived: 1000,
    lost: 0,
    duplicates: 0,
    summaries: 5,
    behind_strip: 0,
};

impl Seen {
    fn beside(self) -> BesideInt {
        let mut known = report_samples::known_connections().remove(0);
        known.state = self.state;
        let sample = &mut known.connection.sample;
        sample.begun_ns = self.begins.then_some(1);
        sample.tcp.segments_out = self.sent;
        sample.tcp.total_retrans = self.retransmitted;
        let measured = Measured {
            summaries: self.summaries,
            packets: self.arrived + self.duplicates,
            lost: self.lost,
            duplicates: self.duplicates,
            ..Measured::default()
        };
        known.beside(&measured, self.behind_strip)
    }
}

/// A sentence, what was seen, and the least number of spurious retransmissions, or why it is not known.
type Case = (&'static str, Seen, Result<u64, BesideIntUnknown>);

#[rustfmt::skip]
const CASES: [Case; 13] = [
    ("all arrived: only what the kernel sends without the socket is left out", SEEN, Ok(100 - WITHOUT_SOCKET)),
    ("some were lost", Seen { arrived: 970, lost: 30, ..SEEN }, Ok(70 - WITHOUT_SOCKET)),
    ("as many were lost as were sent again", Seen { arrived: 900, lost: 100, ..SEEN }, Ok(0)),
    ("more were lost than were sent again, as acknowledgements", Seen { arrived: 700, lost: 300, ..SEEN }, Ok(0)),
    ("some were not tagged, and may all have been lost", Seen { arrived: 950, ..SEEN }, Ok(50 - WITHOUT_SOCKET)),
    ("a network that doubles packets lets no more arrive", Seen { arrived: 970, lost: 30, duplicates: 500, ..SEEN }, Ok(70 - WITHOUT_SOCKET)),
    ("the sink's host dropped some behind the strip", Seen { behind_strip: 40, ..SEEN }, Ok(60 - WITHOUT_SOCKET)),
    ("a SYN-ACK is no segment of the socket", Seen { arrived: 1001, ..SEEN }, Ok(100 - WITHOUT_SOCKET)),
    ("INT counted more packets than the connection sent", Seen { arrived: 1100, ..SEEN }, Err(BesideIntUnknown::OtherPackets)),
    ("it is open", Seen { state: ConnectionState::Open, ..SEEN }, Err(BesideIntUnknown::NotEnded)),
    ("its end was not seen", Seen { state: ConnectionState::Gone, ..SEEN }, Err(BesideIntUnknown::EndUnseen)),
    ("its beginning was not seen", Seen { begins: false, ..SEEN }, Err(BesideIntUnknown::BegunBefore)),
    ("only reports of single packets came", Seen { summaries: 0, ..SEEN }, Err(BesideIntUnknown::NotMeasured)),
];

#[test]
fn retransmissions_are_spurious_as_far_as_counts_prove_it() {
    for (sentence, seen, expected) in CASES {
        let found = match seen.beside() {
            BesideInt::Known(told) => Ok(told.spurious_least),
            BesideInt::Unknown { unknown } => Err(unknown),
        };
        assert_eq!(found, expected, "{sentence}");
    }
}

/// Whatever is lost, and whatever INT does not see, no needed retransmission is called spurious.
#[test]
fn what_is_called_spurious_was_spurious() {
    let (mut random, seed) = Random::from_env();
    for _ in 0..10_000 {
        let (mut sent, mut lost, mut unseen, mut retransmitted, mut spurious) = (0, 0, 0, 0, 0);
        for _ in 0..random.below(300) {
            // A segment is sent until it arrives, and sometimes once more.
            loop {
                let (is_lost, is_tagged) = (random.below(4) == 0, random.below(10) > 0);
                sent += 1;
                lost += u64::from(is_lost && is_tagged);
                unseen += u64::from(!is_tagged);
                if !is_lost {
                    break;
                }
                retransmitted += 1;
            }
            if random.below(5) == 0 {
                sent += 1;
                retransmitted += 1;
                spurious += 1;
            }
        }
        let seen = Seen {
            sent,
            retransmitted,
            arrived: u64::from(sent) - lost - unseen,
            lost,
            ..SEEN
        };
        let told = seen.beside().known().unwrap();
        assert!(
            told.spurious_least <= spurious,
            "seed {seed}: {told:?}, and {spurious} were"
        );
        assert_eq!(told.unseen, unseen);
    }
}
