//! The sentences of verdicts: where, since when, how much against usual, which others share it, and whose side it is on.

use hostint::model::*;
use hostint::views::history::View;
use hostint::views::hosts::KnownHosts;
use hostint::views::table::TextWidth;
use hostint_testing::verdict_samples::{AS_OF_NS, cause, degraded, evidence, verdict};

fn node(id: u32) -> CauseSubject {
    CauseSubject::Node(NodeId(id))
}

fn rack(value: &str) -> CauseSubject {
    CauseSubject::Label {
        label: "rack".to_owned(),
        value: value.to_owned(),
    }
}

const SINCE: &str = "since 2026-05-26 09:40:00 UTC";
const UNANSWERED: &str = "hostint's questions get no answer in 14 pairs, though the hosts report; the path is cut, or a \
                          firewall or a new lease key stops hostint's own packets";

#[test]
fn each_kind_of_cause_has_its_sentence() {
    use CauseKind::*;
    let drops = |value| evidence("host_drops", value, "…");
    let reason = || evidence("drop_reason", None, "NETFILTER_DROP at nft_do_chain");
    let now = |value| evidence("now", Some(value), "…");
    let usual = |value| evidence("usual", Some(value), "…");
    let storage = || CauseSubject::Class(Some("storage".into()));
    let lost = "2.1 % lost (usual 0.001 %)";
    let cases = [
        (
            HostIn,
            vec![node(7)],
            vec![drops(Some(0.0))],
            format!(
                "packets to h7 {SINCE}: {lost}, from 14 of 14 sources; h7 itself dropped few of them, or none: the last link or its card"
            ),
        ),
        (
            HostIn,
            vec![node(7)],
            vec![drops(None)],
            format!(
                "packets to h7 {SINCE}: {lost}, from 14 of 14 sources; the last link or its card, or h7 itself, which does not report drops"
            ),
        ),
        (
            HostOut,
            vec![node(3)],
            vec![drops(Some(0.0))],
            format!(
                "packets from h3 {SINCE}: {lost}, to 14 of 14 sinks; h3 itself dropped few of them, or none: its card or the first link"
            ),
        ),
        (
            HostDropsIn,
            vec![node(7)],
            vec![drops(Some(9_000.0)), reason()],
            format!(
                "packets to h7 {SINCE}: {lost}, from 14 of 14 sources; h7 itself drops them (NETFILTER_DROP at nft_do_chain): not the network"
            ),
        ),
        (
            HostQueue,
            vec![node(3)],
            vec![],
            format!(
                "packets from h3 {SINCE}: {lost}, to 14 of 14 sinks; they wait in h3's own queue: not the network"
            ),
        ),
        (
            Hop,
            vec![node(9), node(7)],
            vec![reason()],
            format!(
                "packets through h9 {SINCE}: {lost}, in 41 of 41 pairs; h9, which forwards them, drops them (NETFILTER_DROP at nft_do_chain)"
            ),
        ),
        (
            LabelOut,
            vec![rack("r7")],
            vec![],
            format!(
                "packets out of rack r7 {SINCE}: {lost}, in 41 of 41 pairs; packets that stay inside are as usual: what connects it to the others"
            ),
        ),
        (
            Between,
            vec![rack("r1"), rack("r4")],
            vec![],
            format!(
                "packets from rack r1 to rack r4 {SINCE}: {lost}, in 41 of 41 pairs; others are as usual: the way between them"
            ),
        ),
        (
            Pair,
            vec![node(1), node(7)],
            vec![],
            format!(
                "packets from h1 to h7 {SINCE}: {lost}; both ends are as usual with others: the way, or a rule, for this pair"
            ),
        ),
        (
            ClassIn,
            vec![storage(), node(7)],
            vec![],
            format!(
                "class storage to h7 {SINCE}: {lost}, in 41 of 41 pairs; other classes are as usual: a queue, shaper or policer of this class"
            ),
        ),
        (
            Everywhere,
            vec![],
            vec![],
            format!(
                "packets between hosts {SINCE}: {lost}, in 41 of 41 pairs; what all of them share"
            ),
        ),
        (
            Everywhere,
            vec![rack("")],
            vec![],
            format!(
                "packets between racks {SINCE}: {lost}, in 41 of 41 pairs; what all of them share"
            ),
        ),
        (
            Clock,
            vec![node(7)],
            vec![evidence("clock_shift_ns", Some(-2e6), "…")],
            format!(
                "h7's clock is 2.0 ms behind {SINCE}, which was not reported: latencies of its pairs are wrong by that; packets are as usual"
            ),
        ),
        (
            Silent,
            vec![node(7)],
            vec![],
            format!("h7 reports nothing {SINCE}, but sends: what goes to it is not judged"),
        ),
        (
            Coverage,
            vec![node(3)],
            vec![now(0.5), usual(0.985)],
            format!(
                "only 50 % of what h3 sends is measured {SINCE} (usual 98 %); the rest is as usual"
            ),
        ),
        (
            ReadsLate,
            vec![node(5)],
            vec![now(4_100_000.0), usual(20_000.0)],
            format!(
                "h5 reads late {SINCE}: packets wait 4.1 ms there until the application reads them (usual 20.0 us)"
            ),
        ),
        (
            AnswersLate,
            vec![node(5)],
            vec![now(84_000_000.0), usual(2_000_000.0)],
            format!(
                "h5 answers late {SINCE}: its applications take 84.0 ms from a request to the answer (usual 2.0 ms)"
            ),
        ),
        (
            Receiver,
            vec![node(5)],
            vec![now(0.55), usual(0.05)],
            format!(
                "receivers of h5's connections hold their senders for 55 % of the time {SINCE} (usual 5 %)"
            ),
        ),
        (
            Gone,
            vec![node(7)],
            vec![],
            format!(
                "h7 sends nothing that is measured and reports nothing {SINCE}: it is down or cut off, or hostint was stopped there"
            ),
        ),
        (
            Unreached,
            vec![node(7)],
            vec![],
            format!("h7 and the other hosts do not reach each other {SINCE}: {UNANSWERED}"),
        ),
        (
            Unreached,
            vec![rack("r7")],
            vec![],
            format!("rack r7 and the other hosts do not reach each other {SINCE}: {UNANSWERED}"),
        ),
        (
            Unreached,
            vec![node(1), node(7)],
            vec![],
            format!("h1 and h7 do not reach each other {SINCE}: {UNANSWERED}"),
        ),
        (
            Unreached,
            vec![],
            vec![],
            format!("no two hosts reach each other {SINCE}: {UNANSWERED}"),
        ),
    ];
    for (kind, subjects, evidence, expected) in cases {
        let mut one = cause(kind, subjects);
        one.evidence = evidence;
        let said = verdict(VerdictState::Degraded, vec![one], Vec::new());
        assert_eq!(said.text, format!("degraded: {expected}"));
        assert_eq!(said.causes[0].text, expected);
    }
}

/// To a host that only sends, a stopped sink looks like a path that is cut.
#[test]
fn what_may_be_a_stopped_sink_is_no_fault_of_the_network() {
    let mut one_way = cause(CauseKind::Unreached, vec![node(1), node(7)]);
    one_way.side = CauseSide::Measurement;
    let said = verdict(VerdictState::Measurement, vec![one_way], Vec::new());
    let expected = format!(
        "measurement: packets between h1 and h7 are no longer measured {SINCE}: hostint's questions get no answer in 14 \
         pairs, though the hosts report; the path is cut, or the sink was stopped"
    );
    assert_eq!(said.text, expected);
}

#[test]
fn some_flows_and_latency_are_said_so() {
    let mut some = cause(CauseKind::LabelOut, vec![rack("r3")]);
    some.some_flows = true;
    let said = verdict(VerdictState::Degraded, vec![some], Vec::new());
    let expected = format!(
        "degraded: some flows out of rack r3 {SINCE}: 2.1 % lost (usual 0.001 %), in 61 of 240 groups of flows and none in \
         the others; one of several equal ways, or one link of a bond; no hop says which"
    );
    assert_eq!(said.text, expected);

    let mut late = cause(CauseKind::HostIn, vec![node(7)]);
    late.metric = vec![CauseMetric::Latency];
    let said = verdict(VerdictState::Degraded, vec![late], Vec::new());
    let expected = format!(
        "degraded: packets to h7 {SINCE}: p99 37.0 us (usual 41.0 us), 1.1 % slower than usual, from 14 of 14 sources; the \
         last link or its card"
    );
    assert_eq!(said.text, expected);
}

#[test]
fn all_well_and_nothing_known_are_said_so() {
    let well = verdict(VerdictState::Healthy, Vec::new(), Vec::new());
    assert_eq!(
        well.text,
        "healthy: 1,204 pairs of 24 hosts, 0.0004 % lost in the last ten seconds; compared with the last 2 h"
    );
    let mut late = cause(CauseKind::ReadsLate, vec![node(5)]);
    late.evidence = vec![evidence("now", Some(4e6), "…")];
    let note = verdict(VerdictState::Healthy, Vec::new(), vec![late]);
    assert!(
        note.text
            .starts_with("healthy, not the network: h5 reads late")
    );
    let unknown = verdict(VerdictState::CannotTell, Vec::new(), Vec::new());
    assert!(
        unknown
            .text
            .starts_with("cannot tell: no sink reports packets")
    );
}

#[test]
fn the_history_shows_what_it_rests_on() {
    let answer = Answer::Verdict {
        verdict: Some(Box::new(degraded())),
        past: vec![PastVerdict {
            begin_ns: AS_OF_NS - 4_000_000_000_000,
            until_ns: AS_OF_NS - 1_200_000_000_000,
            state: VerdictState::Healthy,
            text: "healthy: as it was".to_owned(),
        }],
        events: vec![NetworkEvent {
            kind: EventKind::Silence,
            time_ns: AS_OF_NS - 60_000_000_000,
            until_ns: Some(AS_OF_NS + 3_600_000_000_000),
            host: Some("h7".to_owned()),
            ..NetworkEvent::default()
        }],
    };
    let span = Span {
        since_ns: AS_OF_NS - 3_600_000_000_000,
        until_ns: AS_OF_NS,
    };
    let text = |span| {
        let width = TextWidth {
            columns: 200,
            folds: false,
        };
        View(&answer).text(span, width, &KnownHosts::default())
    };
    let expected = "\
degraded: packets to h7 since 2026-05-26 09:40:00 UTC: 2.1 % lost (usual 0.001 %, limit 0.1 %), from 14 of 14
sources; h7 itself dropped few of them, or none: the last link or its card
lost        10,412 of 495,120 packets; usual would be 5
shared by   41 of 41 pairs and classes there
evidence    it dropped few of them, or none: 0
evidence    NETFILTER_DROP at nft_do_chain
confidence  sure: label-in, the next explanation, is far less likely
next        hostint history flows --sink h7
events (UTC)
  2026-05-26 09:59:00  silence at h7 until 2026-05-26 11:00:00
before that (UTC)
  2026-05-26 08:53:20 to 09:40:00  healthy
";
    assert_eq!(text(span), expected);
    let later = Span {
        until_ns: AS_OF_NS + 600_000_000_000,
        ..span
    };
    let first = "the last verdict, of 2026-05-26 10:00:00 UTC; nothing was judged since\n";
    assert!(text(later).starts_with(first), "{}", text(later));
}
