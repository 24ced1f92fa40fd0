//! What should be said of an incident.

use hostint::model::{
    CauseKind, CauseSubject, NetworkCause, NetworkVerdict, UnknownReason, VerdictState,
};
use hostint_testing::invented::InventedWorld;

use super::figures::Line;
use super::incident::Subject;

/// One cause that is right.
#[derive(Clone, Debug)]
pub struct Answer {
    pub kind: CauseKind,
    /// Of "everywhere" and of the collector none are compared.
    pub subjects: Vec<CauseSubject>,
    /// `None`: both are right.
    pub some_flows: Option<bool>,
}

#[derive(Clone, Debug)]
pub struct Expected {
    pub state: VerdictState,
    /// The causes that are right to be named first.
    pub any: Vec<Answer>,
    /// All of them must be named in the end.
    pub all: bool,
    /// Not a cause, but a note is right.
    pub note: bool,
}

/// What a verdict names first.
pub type Words = (CauseKind, Vec<CauseSubject>, bool);

fn words_of(cause: &NetworkCause) -> Words {
    (cause.kind, cause.subjects.clone(), cause.some_flows)
}

impl Answer {
    pub fn is(&self, words: &Words) -> bool {
        let (kind, subjects, some_flows) = words;
        let is_ordered = matches!(kind, CauseKind::Pair | CauseKind::Between);
        let sorted = |subjects: &[CauseSubject]| {
            let mut subjects = subjects.to_vec();
            if !is_ordered {
                subjects.sort();
            }
            subjects
        };
        let is_anywhere = matches!(kind, CauseKind::Everywhere | CauseKind::Collector);
        self.kind == *kind
            && self.some_flows.is_none_or(|some| some == *some_flows)
            && (is_anywhere || sorted(&self.subjects) == sorted(subjects))
    }
}

impl Expected {
    pub fn of(line: &Line, subject: &Subject) -> Self {
        let state = match line.kind {
            "clock" | "slew" | "silent" | "coverage" => VerdictState::Measurement,
            "collector" => VerdictState::CannotTell,
            "restart" | "surge" | "reads" | "receiver" | "answers" | "nothing" | "clock-known" => {
                VerdictState::Healthy
            }
            _ => VerdictState::Degraded,
        };
        Self {
            state,
            any: answers(line, subject),
            all: line.kind == "two",
            note: matches!(line.kind, "restart" | "reads" | "receiver"),
        }
    }

    /// What a verdict says, as far as it can be wrong.
    pub fn words(&self, verdict: &NetworkVerdict) -> Option<Words> {
        let first = verdict.causes.first().map(words_of);
        match verdict.state {
            VerdictState::Degraded | VerdictState::Measurement => first,
            VerdictState::CannotTell => {
                let is_behind = verdict
                    .cannot_tell
                    .contains(&UnknownReason::CollectorBehind);
                is_behind.then_some((CauseKind::Collector, Vec::new(), false))
            }
            VerdictState::Healthy if self.note => {
                let mut notes = verdict.notes.iter().map(words_of);
                notes.find(|words| self.is_right(words))
            }
            VerdictState::Healthy => None,
        }
    }

    pub fn is_right(&self, words: &Words) -> bool {
        self.any.iter().any(|answer| answer.is(words))
    }

    /// True if a verdict says all that is to be said.
    pub fn is_whole(&self, verdict: &NetworkVerdict) -> bool {
        let words: Vec<Words> = verdict.causes.iter().map(words_of).collect();
        let is_said = |answer: &Answer| words.iter().any(|words| answer.is(words));
        !self.all || self.any.iter().all(is_said)
    }
}

fn answers(line: &Line, subject: &Subject) -> Vec<Answer> {
    use CauseKind::*;
    let label = |label: &str, value: String| CauseSubject::Label {
        label: label.to_string(),
        value,
    };
    let node = |host: usize| CauseSubject::Node(InventedWorld::node(host));
    let host = vec![node(subject.host)];
    let rack = vec![label("rack", format!("r{}", subject.rack + 1))];
    let zone = vec![label("zone", format!("z{}", subject.rack / 2 + 1))];
    let class = CauseSubject::Class(subject.class.map(Box::from));
    let class_at = vec![node(subject.host), class.clone()];
    let racks = vec![
        rack[0].clone(),
        label("rack", format!("r{}", subject.other_rack + 1)),
    ];
    let hidden = line.figures.has("hidden");
    // Without single flows, and by latency, some flows cannot be told from few.
    let some = (line.flows && line.figures.get("slow").is_none()).then_some(true);
    let all = Some(false);
    let one = |kind, subjects, some_flows| {
        vec![Answer {
            kind,
            subjects,
            some_flows,
        }]
    };
    match line.kind {
        "way-out" | "half-out" => one(LabelOut, rack, some),
        "way-in" => one(LabelIn, rack, some),
        "half-in" => one(HostIn, host, some),
        "spine" => one(Everywhere, Vec::new(), some),
        "host-in" => one(HostIn, host, all),
        "host-out" => one(HostOut, host, all),
        "drops-in" if hidden => one(HostIn, host, all),
        "drops-in" => one(HostDropsIn, host, all),
        "drops-out" if hidden => one(HostOut, host, all),
        "drops-out" => one(HostDropsOut, host, all),
        "queue" => one(HostQueue, host, all),
        "rack-out" => one(LabelOut, rack, all),
        "rack-in" => one(LabelIn, rack, all),
        "zone-out" => one(LabelOut, zone, all),
        "zone-in" => one(LabelIn, zone, all),
        "everywhere" | "at-all" => one(Everywhere, Vec::new(), all),
        "cut-host" => one(Unreached, host, all),
        "cut-rack" => one(Unreached, rack, all),
        "cut-pair" => one(
            Unreached,
            vec![node(subject.host), node(subject.other_host)],
            all,
        ),
        "class" => one(Class, vec![class], all),
        "class-in" => one(ClassIn, class_at, all),
        "class-out" => one(ClassOut, class_at, all),
        "pair" => one(
            Pair,
            vec![node(subject.host), node(subject.other_host)],
            all,
        ),
        "longer" | "between" => one(Between, racks, all),
        "clock" | "slew" => one(Clock, host, None),
        "collector" => one(Collector, Vec::new(), None),
        "silent" => one(Silent, host, None),
        "gone" => one(Gone, host, None),
        "coverage" => one(Coverage, host, None),
        "restart" => one(Restarted, host, None),
        "reads" => one(ReadsLate, host, None),
        "answers" => one(AnswersLate, host, None),
        "receiver" => one(Receiver, host, None),
        "two" => [one(HostIn, host, all), one(LabelOut, rack, all)].concat(),
        "surge" | "nothing" | "clock-known" => Vec::new(),
        other => panic!("{other}: what should be said of it?"),
    }
}
