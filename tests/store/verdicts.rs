//! The history keeps what was said of the network: a row for as long as it is the same.

use hostint::model::*;
use hostint::store::*;
use hostint_testing::verdict_samples::{AS_OF_NS, cause, degraded, verdict};

use crate::disk::*;

const SLOT: u64 = 10_000_000_000;

fn at(number: u64, mut one: NetworkVerdict) -> NetworkVerdict {
    one.as_of_ns = AS_OF_NS + number * SLOT;
    one
}

fn well() -> NetworkVerdict {
    verdict(VerdictState::Healthy, Vec::new(), Vec::new())
}

fn span(from: u64, until: u64) -> Span {
    Span {
        since_ns: AS_OF_NS + from * SLOT,
        until_ns: AS_OF_NS + until * SLOT,
    }
}

#[test]
fn a_row_lasts_as_long_as_the_same_is_said() {
    let disk = Disk::new();
    let other = verdict(
        VerdictState::Degraded,
        vec![cause(
            CauseKind::HostOut,
            vec![CauseSubject::Node(NodeId(3))],
        )],
        Vec::new(),
    );
    let said = [
        (1, well()),
        (2, well()),
        (3, degraded()),
        (4, degraded()),
        (5, other),
        (6, well()),
        // The collector did not run for a while.
        (100, well()),
        (101, well()),
    ];
    let store = OpenedStore::open(disk.settings()).unwrap();
    let mut reader = HistoryReader::open(&disk.file(), decoder()).unwrap();
    assert_eq!(reader.verdict(span(0, 200)).unwrap(), None, "none yet");
    let store = store
        .start(Box::new(|trouble| panic!("{trouble}")))
        .unwrap();
    for (number, one) in &said {
        store.keeper().see_verdict(at(*number, one.clone()));
    }
    drop(store);
    let mut reader = HistoryReader::open(&disk.file(), decoder()).unwrap();
    let past = reader.past_verdicts(span(0, 200)).unwrap();
    let rows: Vec<_> = past
        .iter()
        .map(|one| {
            let slot = |ns: u64| (ns - AS_OF_NS) / SLOT;
            (slot(one.begin_ns), slot(one.until_ns), one.state)
        })
        .collect();
    use VerdictState::{Degraded, Healthy};
    let expected = [
        (0, 2, Healthy),
        (2, 4, Degraded),
        (4, 5, Degraded),
        (5, 6, Healthy),
        (99, 101, Healthy),
    ];
    assert_eq!(rows, expected);
    assert_eq!(
        reader.verdict(span(0, 4)).unwrap(),
        Some(at(4, degraded())),
        "the last one of a span, whole"
    );
    assert_eq!(reader.verdict(span(20, 90)).unwrap(), None, "a gap");
}
