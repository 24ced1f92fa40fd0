//! Events beside a verdict: a deploy before a cause, a silence of it, and that it is accepted as usual.

use hostint::model::*;
use hostint::verdict::VerdictEngine;
use hostint::views::verdict::put_words;
use hostint_testing::verdict_samples::{AS_OF_NS, cause, verdict};

use super::limits::{lossy, slot, slow, well};

const MINUTE: u64 = 60_000_000_000;

fn event(kind: EventKind, host: Option<&str>, to: Option<&str>) -> NetworkEvent {
    NetworkEvent {
        kind,
        time_ns: AS_OF_NS,
        text: "web 1.2.3".to_owned(),
        host: host.map(str::to_owned),
        to: to.map(str::to_owned),
        ..NetworkEvent::default()
    }
}

fn name(node: NodeId) -> Option<&'static str> {
    (node == NodeId(7)).then_some("db-7")
}

fn to_7() -> NetworkCause {
    cause(CauseKind::HostIn, vec![CauseSubject::Node(NodeId(7))])
}

fn rack() -> NetworkCause {
    let subject = CauseSubject::Label {
        label: "rack".to_owned(),
        value: "r2".to_owned(),
    };
    cause(CauseKind::LabelIn, vec![subject])
}

#[test]
fn a_change_that_came_shortly_before_is_said() {
    // The cause began 20 minutes before the verdict.
    let since_ns = AS_OF_NS - 20 * MINUTE;
    let cases = [
        (
            "two minutes before",
            since_ns - 2 * MINUTE,
            None,
            Some("2 minutes after deploy web 1.2.3"),
        ),
        (
            "at this host",
            since_ns - MINUTE,
            Some("db-7"),
            Some("1 minute after deploy web 1.2.3 at db-7"),
        ),
        ("at another host", since_ns - MINUTE, Some("web-9"), None),
        ("afterwards", since_ns + MINUTE, None, None),
        ("an hour before", since_ns - 60 * MINUTE, None, None),
    ];
    for (sentence, time_ns, host, said) in cases {
        let mut one = verdict(VerdictState::Degraded, vec![to_7()], Vec::new());
        let mut deploy = event(EventKind::Deploy, host, None);
        deploy.time_ns = time_ns;
        one.take_events(&[deploy], &name);
        put_words(&mut one, &|node| format!("h{}", node.0));
        match said {
            Some(said) => assert!(one.text.contains(said), "{sentence}: {}", one.text),
            None => assert!(
                !one.text.contains("after deploy"),
                "{sentence}: {}",
                one.text
            ),
        }
    }
}

#[test]
fn a_silence_hides_its_causes_until_it_ends() {
    let until = |minutes: u64, one: NetworkEvent| NetworkEvent {
        until_ns: Some(AS_OF_NS + minutes * MINUTE - 2 * MINUTE),
        ..one
    };
    let silence = |host, to| event(EventKind::Silence, host, to);
    let label = NetworkEvent {
        labels: [("rack".to_owned(), "r2".to_owned())].into(),
        ..silence(None, None)
    };
    let pair = cause(
        CauseKind::Pair,
        vec![CauseSubject::Node(NodeId(3)), CauseSubject::Node(NodeId(7))],
    );
    let cases = [
        (
            "by name",
            to_7(),
            until(9, silence(Some("db-7"), None)),
            true,
        ),
        ("by id", to_7(), until(9, silence(Some("7"), None)), true),
        (
            "another host",
            to_7(),
            until(9, silence(Some("8"), None)),
            false,
        ),
        ("everything", to_7(), until(9, silence(None, None)), true),
        ("it is over", to_7(), until(1, silence(None, None)), false),
        ("a label", rack(), until(9, label.clone()), true),
        (
            "another place than the label",
            to_7(),
            until(9, label),
            false,
        ),
        (
            "a pair",
            pair.clone(),
            until(9, silence(Some("3"), Some("db-7"))),
            true,
        ),
        (
            "the pair in reverse",
            pair,
            until(9, silence(Some("db-7"), Some("3"))),
            false,
        ),
        (
            "a pair says nothing of its host",
            to_7(),
            until(9, silence(Some("3"), Some("db-7"))),
            false,
        ),
    ];
    for (sentence, cause, silence, is_silenced) in cases {
        let mut one = verdict(VerdictState::Degraded, vec![cause], Vec::new());
        one.take_events(&[silence], &name);
        put_words(&mut one, &|node| format!("h{}", node.0));
        assert_eq!(one.is_silenced(), is_silenced, "{sentence}");
        assert_eq!(
            one.text.contains("silenced until"),
            is_silenced,
            "{}",
            one.text
        );
    }
    // What nobody silenced comes first.
    let mut both = verdict(VerdictState::Degraded, vec![to_7(), rack()], Vec::new());
    both.take_events(&[until(9, silence(Some("7"), None))], &name);
    assert_eq!(both.causes[0].kind, CauseKind::LabelIn);
    assert!(!both.is_silenced());
}

#[test]
fn what_is_accepted_is_usual_from_then_on() {
    for (sentence, packets) in [("loss", lossy as fn(u32) -> (i64, u64)), ("latency", slow)] {
        let mut engine = VerdictEngine::default();
        let mut said = Vec::new();
        for number in 0..140 {
            if number == 80 {
                assert_eq!(engine.accept(|_| false), 0, "another cause");
                assert_eq!(engine.accept(|cause| cause.node() == Some(NodeId(1))), 1);
            }
            let packets = if number < 60 { well } else { packets };
            said.push(engine.slot(&slot(number, packets, &[])).state);
        }
        assert_eq!(said[79], VerdictState::Degraded, "{sentence}");
        let after = &said[80..];
        let is_well = after.iter().all(|state| *state == VerdictState::Healthy);
        assert!(is_well, "{sentence}: {after:?}");
    }
}
