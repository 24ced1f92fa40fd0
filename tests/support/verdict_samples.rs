//! Verdicts as a collector gives them, with every part filled in.

use hostint::model::*;
use hostint::views::verdict::put_words;

/// The time of all samples.
pub const AS_OF_NS: u64 = 1_779_789_600_000_000_000;

/// A cause at these subjects, without words.
pub fn cause(kind: CauseKind, subjects: Vec<CauseSubject>) -> NetworkCause {
    NetworkCause {
        id: format!("{}:1779788400", kind.name()),
        text: String::new(),
        commands: Vec::new(),
        kind,
        side: kind.side(),
        subjects,
        some_flows: false,
        metric: vec![CauseMetric::Loss],
        since_ns: AS_OF_NS - 1_200_000_000_000,
        since_error_ns: 10_000_000_000,
        now: TrafficFigures {
            packets: 495_120,
            lost: 10_412,
            loss: 0.021,
            slow: 0.011,
            p50_ns: Some(1_500),
            p99_ns: Some(37_000),
        },
        usual: UsualFigures {
            of: UsualOrigin::LastHours,
            days: 0,
            packets: 1_000_000,
            loss: 1e-5,
            is_corrected: true,
            p05_ns: 900,
            p50_ns: 1_500,
            p99_ns: 41_000,
        },
        limit: None,
        silenced_until_ns: None,
        shared: SharedBy {
            bad: 14,
            all: 14,
            bad_cells: 41,
            cells: 41,
            bad_parts: 61,
            parts: 240,
        },
        evidence: Vec::new(),
        instead_of: Vec::new(),
        confidence: Confidence::Sure,
    }
}

/// A fact about a cause.
pub fn evidence(what: &str, value: Option<f64>, says: &str) -> CauseEvidence {
    CauseEvidence {
        what: what.to_owned(),
        value,
        says: says.to_owned(),
    }
}

/// A verdict with these causes and notes, in words.
pub fn verdict(
    state: VerdictState,
    causes: Vec<NetworkCause>,
    notes: Vec<NetworkCause>,
) -> NetworkVerdict {
    let mut verdict = NetworkVerdict {
        as_of_ns: AS_OF_NS,
        state,
        since_ns: AS_OF_NS - 1_200_000_000_000,
        causes,
        notes,
        judged: JudgedTraffic {
            pairs: 1_204,
            latency_pairs: 1_200,
            hosts: 24,
            reporting: 24,
            packets: 812_345,
            lost: 3,
            usual_ns: 7_200_000_000_000,
            usual_days: 0,
        },
        ..NetworkVerdict::default()
    };
    put_words(&mut verdict, &|node| format!("h{}", node.0));
    verdict
}

/// Packets to one host are lost, which its rack explains nearly as well.
pub fn degraded() -> NetworkVerdict {
    let mut cause = cause(CauseKind::HostIn, vec![CauseSubject::Node(NodeId(7))]);
    cause.limit = Some(CauseLimit {
        latency_ns: Some(5_000_000),
        loss: Some(0.001),
        exceeded: true,
    });
    cause.evidence = vec![
        evidence("host_drops", Some(0.0), "it dropped few of them, or none"),
        evidence("drop_reason", None, "NETFILTER_DROP at nft_do_chain"),
    ];
    cause.instead_of = vec![OtherCause {
        kind: CauseKind::LabelIn,
        subjects: vec![
            CauseSubject::Label {
                label: "rack".to_owned(),
                value: "r2".to_owned(),
            },
            CauseSubject::Class(Some("storage".into())),
            CauseSubject::Class(None),
        ],
        log_likelihood_less: 41.5,
        same_packets: false,
    }];
    let mut degraded = verdict(VerdictState::Degraded, vec![cause], Vec::new());
    degraded.limits = vec![LimitInForce {
        class: Some("db".into()),
        from: None,
        to: Some([NodeId(7)].into()),
        latency_ns: Some(5_000_000),
        loss: Some(0.001),
    }];
    degraded
}
