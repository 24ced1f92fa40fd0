//! The source's daemon asks for, renews and ends leases at the right times. Time is an input.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr};

use hostint::lease::{AnswerTime, AskingTime, LeaseKeeper, OutgoingQuestion, OwnTagging, Tagging};
use hostint::model::{
    AddressPair, Capabilities, Encapsulation, Encapsulations, FullAnswer, LeaseAnswer, LeaseKey,
    LeaseState, LeaseWitness, Marks, NodeId,
};
use hostint::wire::lease::message::{FULL_LEN, encode_full_answer, encode_short_answer};

use hostint_testing::random::Random;

const KEY: LeaseKey = LeaseKey([7; 16]);
const MS: u64 = 1_000_000;
/// Any monotonic time to begin at, and what to add to get the time since the Unix epoch.
const T: u64 = 5_000_000 * MS;
const EPOCH: u64 = 1_700_000_000_000 * MS;
/// What to add to get the raw clock.
const RAW: u64 = 77_000 * MS;
const OUR_NODE: NodeId = NodeId(1);

fn pair(n: u16) -> AddressPair {
    let [high, low] = n.to_be_bytes();
    AddressPair {
        source: IpAddr::from(Ipv4Addr::new(192, 0, 2, 1)),
        dest: IpAddr::from([198, 51, high, low]),
    }
}

fn encapsulations(all: &[Encapsulation]) -> Encapsulations {
    all.iter()
        .fold(Encapsulations::default(), |all, one| all.with(*one))
}

const MARKS: Marks = Marks {
    tos_value: 0x04,
    tos_mask: 0xfc,
    extension_port: 33122,
};

fn sending(sent: &[Encapsulation]) -> Tagging {
    Tagging {
        encapsulations: encapsulations(sent),
        marks: MARKS,
        explicit: sent.first().copied(),
        max_hops: 4,
        int_tos_value: 0,
        is_mx: false,
    }
}

/// What a sink answers that recognises everything.
fn answer() -> LeaseAnswer {
    LeaseAnswer {
        instance: 22,
        node: NodeId(2),
        encapsulations: encapsulations(&Encapsulation::COUNTED),
        marks: MARKS,
        clock: Default::default(),
        mtu: 1500,
        tai_offset_s: 37,
        software: (0, 1),
        answered_ns: 0,
    }
}

fn keeper_that_sends(tagging: Vec<Tagging>) -> LeaseKeeper {
    let mut nonces = Random::seeded(1);
    let ours = OwnTagging {
        node: OUR_NODE,
        tagging,
    };
    LeaseKeeper::new(KEY, ours, move || nonces.next())
}

fn keeper() -> LeaseKeeper {
    keeper_that_sends(vec![sending(&Encapsulation::COUNTED)])
}

/// All questions that are due.
fn questions(keeper: &mut LeaseKeeper, now: u64) -> Vec<(AddressPair, OutgoingQuestion)> {
    let at = AskingTime {
        realtime_ns: EPOCH + now,
        raw_ns: RAW + now,
    };
    std::iter::from_fn(|| keeper.next_due(now, at)).collect()
}

/// The only question that is due.
fn question(keeper: &mut LeaseKeeper, now: u64) -> OutgoingQuestion {
    let due = questions(keeper, now);
    assert_eq!(due.len(), 1, "one question is due at {} ms", (now - T) / MS);
    due[0].1.clone()
}

fn received(now: u64) -> AnswerTime {
    AnswerTime {
        monotonic_ns: now,
        realtime_ns: EPOCH + now,
        raw_ns: RAW + now,
    }
}

fn take(keeper: &mut LeaseKeeper, payload: &[u8], now: u64) -> Option<AddressPair> {
    keeper.take(payload, received(now)).map(|taken| taken.pair)
}

/// The sink tells no counts, so that nothing is probed.
fn told(answer: &LeaseAnswer) -> FullAnswer {
    FullAnswer {
        witness: LeaseWitness {
            untold: true,
            answered_ns: answer.answered_ns,
            ..LeaseWitness::default()
        },
        instance: answer.instance,
        node: answer.node,
        capabilities: Capabilities::from(answer.encapsulations),
        marks: answer.marks,
        clock: answer.clock,
        mtu: answer.mtu,
        tai_offset_s: answer.tai_offset_s,
        software: answer.software,
        ..FullAnswer::default()
    }
}

fn reply_with(asked: &OutgoingQuestion, answer: &LeaseAnswer, key: LeaseKey) -> Vec<u8> {
    let answer = told(answer);
    match <[u8; FULL_LEN]>::try_from(&asked.message[..]) {
        Ok(full) => encode_full_answer(&full, &answer, key).to_vec(),
        Err(_) => {
            let short = asked.message[..].try_into().expect("its length");
            encode_short_answer(&short, &answer.witness, key).to_vec()
        }
    }
}

fn reply(asked: &OutgoingQuestion, answer: &LeaseAnswer) -> Vec<u8> {
    reply_with(asked, answer, KEY)
}

fn forged(asked: &OutgoingQuestion) -> Vec<u8> {
    reply_with(asked, &answer(), LeaseKey([8; 16]))
}

/// State, and until when packets are tagged.
fn lease(keeper: &LeaseKeeper, n: u16) -> (LeaseState, u64) {
    let lease = keeper.lease(&pair(n)).expect("the pair is kept");
    (lease.state, lease.until_ns)
}

/// A keeper with a lease for pair 0, asked for and answered at T.
fn granted() -> (LeaseKeeper, OutgoingQuestion) {
    let mut keeper = keeper();
    keeper.want(pair(0), false, T);
    let asked = question(&mut keeper, T);
    let payload = reply(&asked, &answer());
    assert_eq!(take(&mut keeper, &payload, T), Some(pair(0)));
    (keeper, asked)
}

/// Asks pair 0 whenever it is due for so long, `each` answers or does not; when it was asked, in ms since `from`.
fn asked_at(
    keeper: &mut LeaseKeeper,
    from: u64,
    for_ms: u64,
    mut each: impl FnMut(u64, &OutgoingQuestion) -> Option<Vec<u8>>,
) -> Vec<u64> {
    let mut times = Vec::new();
    for ms in 0..for_ms {
        let now = from + ms * MS;
        for (_, asked) in questions(keeper, now) {
            times.push(ms);
            if let Some(payload) = each(ms, &asked) {
                keeper.take(&payload, received(now));
            }
        }
    }
    times
}

#[test]
fn a_lease_lasts_950_ms_from_its_question() {
    let mut keeper = keeper();
    keeper.want(pair(0), false, T);
    assert_eq!(
        lease(&keeper, 0),
        (LeaseState::Asking, 0),
        "before it is asked"
    );
    let asked = question(&mut keeper, T);
    assert_eq!(asked.to, pair(0).dest, "the sink before it is asked");
    assert_eq!(
        lease(&keeper, 0),
        (LeaseState::Asking, 0),
        "before it answers"
    );
    let payload = reply(&asked, &answer());
    assert_eq!(take(&mut keeper, &payload, T + 300 * MS), Some(pair(0)));
    let lease = keeper.lease(&pair(0)).unwrap();
    assert_eq!(lease.state, LeaseState::Granted, "the sink answered");
    assert_eq!(lease.until_ns, T + 950 * MS, "however long it took");
    assert_eq!(lease.answered_ns, T + 300 * MS, "when it answered");
    assert_eq!(u64::from(lease.rtt_ns), 300 * MS, "the round trip");
    assert_eq!(lease.answer, Some(answer()), "what it answered");
}

/// The second question comes earlier, so that not all sinks are asked at once that came to be known at once.
fn assert_every_700_ms(times: &[u64], until_ms: u64, name: &str) {
    assert!(times[1] <= times[0] + 750, "{name}: {times:?}");
    let expected: Vec<_> = (times[1]..until_ms).step_by(700).collect();
    assert_eq!(times[1..], expected, "{name}");
}

#[test]
fn a_sink_that_answers_is_asked_every_700_ms() {
    for named in [false, true] {
        let mut keeper = keeper();
        keeper.want(pair(0), named, T);
        let answers = |_, asked: &OutgoingQuestion| Some(reply(asked, &answer()));
        let times = asked_at(&mut keeper, T, 10_000, answers);
        assert_every_700_ms(&times, 10_000, &format!("named: {named}"));
    }
}

#[test]
fn a_question_that_a_sink_leaves_unanswered_is_soon_repeated() {
    for (round_trip_ms, gap_ms) in [(0, 20), (10, 20), (30, 45), (100, 150), (300, 400)] {
        let mut keeper = keeper();
        keeper.want(pair(0), false, T);
        let asked = question(&mut keeper, T);
        let answered = T + round_trip_ms * MS;
        take(&mut keeper, &reply(&asked, &answer()), answered);
        let times = asked_at(&mut keeper, answered, 999, |_, _| None);
        assert!(times.len() >= 2, "{round_trip_ms} ms: asked again");
        for two in times.windows(2) {
            let gap = two[1] - two[0];
            assert_eq!(gap, gap_ms, "answers take {round_trip_ms} ms");
        }
    }
}

/// Answers arrive after their round trip, unless `lost` says by the question's number that they do not. The first
/// ms after the first answer in which there is no lease.
fn first_without_lease(round_trip_ms: u64, lost: fn(u64) -> bool) -> Option<u64> {
    let mut keeper = keeper();
    keeper.want(pair(0), true, T);
    let (mut number, mut until, mut on_the_way) = (0, None, Vec::new());
    for ms in 0..20_000 {
        let now = T + ms * MS;
        for (_, asked) in questions(&mut keeper, now) {
            if !lost(number) {
                on_the_way.push((ms + round_trip_ms, reply(&asked, &answer())));
            }
            number += 1;
        }
        let arrived = on_the_way.extract_if(.., |(at, _)| *at <= ms);
        for (_, payload) in arrived {
            take(&mut keeper, &payload, now);
        }
        if lease(&keeper, 0).0 == LeaseState::Granted {
            until = Some(lease(&keeper, 0).1);
        }
        if until.is_some_and(|until| until <= now) {
            return Some(ms);
        }
    }
    None
}

#[test]
fn lost_answers_end_no_lease_while_some_arrive() {
    struct Case {
        name: &'static str,
        lost: fn(u64) -> bool,
    }
    let cases = [
        Case {
            name: "none is lost",
            lost: |_| false,
        },
        Case {
            name: "every second one",
            lost: |number| number % 2 == 1,
        },
        Case {
            name: "every tenth",
            lost: |number| number % 10 == 9,
        },
        Case {
            name: "two in a row",
            lost: |number| number % 10 > 7,
        },
        Case {
            name: "eight of ten",
            lost: |number| number % 10 > 1,
        },
    ];
    for Case { name, lost } in cases {
        assert_eq!(first_without_lease(1, lost), None, "{name}");
    }
}

#[test]
fn slow_answers_end_no_lease() {
    for round_trip_ms in [1, 40, 100, 200, 300, 390] {
        let ended = first_without_lease(round_trip_ms, |_| false);
        assert_eq!(ended, None, "a round trip of {round_trip_ms} ms");
    }
}

#[test]
fn one_lost_answer_on_a_slow_way_ends_no_lease() {
    for round_trip_ms in [1, 40, 100, 140] {
        let ended = first_without_lease(round_trip_ms, |number| number % 4 == 3);
        assert_eq!(ended, None, "a round trip of {round_trip_ms} ms");
    }
}

#[test]
fn a_lost_question_makes_few_renewals_early() {
    for (lost, early) in [(&[3][..], 4..=4), (&[3, 5, 7, 9, 11], 16..=24)] {
        let mut keeper = keeper();
        keeper.want(pair(0), true, T);
        let mut times = Vec::new();
        for ms in 0..60_000 {
            let now = T + ms * MS;
            for (_, question) in questions(&mut keeper, now) {
                times.push(ms);
                if !lost.contains(&times.len()) {
                    take(&mut keeper, &reply(&question, &answer()), now);
                }
            }
        }
        let gaps = times.windows(2).skip(1).map(|two| two[1] - two[0]);
        let found = gaps.filter(|gap| (300..=500).contains(gap)).count();
        assert!(early.contains(&found), "{lost:?}: {found} of {times:?}");
        assert_eq!(times[times.len() - 1] - times[times.len() - 2], 700);
    }
}

#[test]
fn what_answers_no_open_question_changes_nothing() {
    type Payload = fn(&mut LeaseKeeper, &OutgoingQuestion) -> Vec<u8>;
    struct Case {
        name: &'static str,
        payload: Payload,
    }
    let cases = [
        Case {
            name: "the answer once more",
            payload: |_, asked| reply(asked, &answer()),
        },
        Case {
            name: "another answer to a question that is answered",
            payload: |_, asked| {
                let other = LeaseAnswer {
                    node: OUR_NODE,
                    ..answer()
                };
                reply(asked, &other)
            },
        },
        Case {
            name: "the question itself, sent back late",
            payload: |_, asked| asked.message.to_vec(),
        },
        Case {
            name: "an answer that comes when its lease would be over",
            payload: |keeper, _| {
                let late = question(keeper, T + 700 * MS);
                question(keeper, T + 1_650 * MS);
                reply(&late, &answer())
            },
        },
        Case {
            name: "an answer to a question that nobody asked",
            payload: |_, asked| {
                let mut asked = asked.clone();
                asked.message[8..16].fill(0xee);
                reply(&asked, &answer())
            },
        },
        Case {
            name: "a forged answer to a question that is answered",
            payload: |_, asked| forged(asked),
        },
        Case {
            name: "half an answer",
            payload: |keeper, _| {
                let asked = question(keeper, T + 700 * MS);
                reply(&asked, &answer())[..60].to_vec()
            },
        },
        Case {
            name: "another version of lease messages",
            payload: |keeper, _| {
                let asked = question(keeper, T + 700 * MS);
                let mut payload = reply(&asked, &answer());
                payload[7] = 3;
                payload
            },
        },
        Case {
            name: "somebody's ping",
            payload: |_, _| vec![0x55; 96],
        },
        Case {
            name: "nothing",
            payload: |_, _| Vec::new(),
        },
    ];
    for Case { name, payload } in cases {
        let (mut keeper, asked) = granted();
        let payload = payload(&mut keeper, &asked);
        let before = *keeper.lease(&pair(0)).unwrap();
        assert_eq!(take(&mut keeper, &payload, T + 1_660 * MS), None, "{name}");
        assert_eq!(keeper.lease(&pair(0)), Some(&before), "{name}: the lease");
    }
}

#[test]
fn an_answer_counts_although_the_next_question_overtook_it() {
    let (mut keeper, _) = granted();
    let asked = question(&mut keeper, T + 700 * MS);
    question(&mut keeper, T + 800 * MS);
    let told = take(&mut keeper, &reply(&asked, &answer()), T + 801 * MS);
    assert_eq!(told, Some(pair(0)), "its question is still open");
    let until = (LeaseState::Granted, T + 1650 * MS);
    assert_eq!(lease(&keeper, 0), until, "from its own question on");
}

#[test]
fn a_host_without_a_sink_ends_the_lease_at_once() {
    let (mut keeper, _) = granted();
    let asked = question(&mut keeper, T + 700 * MS);
    let answered = take(&mut keeper, &asked.message, T + 700 * MS);
    assert_eq!(answered, Some(pair(0)), "an echo without an answer");
    assert_eq!(lease(&keeper, 0), (LeaseState::NoSink, 0));
    let asked = question(&mut keeper, T + 1_100 * MS);
    take(&mut keeper, &reply(&asked, &answer()), T + 801 * MS);
    let again = (LeaseState::Granted, T + 2050 * MS);
    assert_eq!(lease(&keeper, 0), again, "the sink is back");
}

#[test]
fn a_forged_answer_neither_ends_a_lease_nor_uses_up_the_question() {
    let (mut keeper, _) = granted();
    let asked = question(&mut keeper, T + 700 * MS);
    for _ in 0..3 {
        let told = take(&mut keeper, &forged(&asked), T + 701 * MS);
        assert_eq!(told, Some(pair(0)), "the user learns of it");
        let still = (LeaseState::Forged, T + 950 * MS);
        assert_eq!(lease(&keeper, 0), still, "the lease goes on");
    }
    take(&mut keeper, &reply(&asked, &answer()), T + 402 * MS);
    let granted = (LeaseState::Granted, T + 1650 * MS);
    assert_eq!(lease(&keeper, 0), granted, "the sink's own answer counts");
}

#[test]
fn forged_answers_alone_make_no_lease() {
    let mut keeper = keeper();
    keeper.want(pair(0), true, T);
    asked_at(&mut keeper, T, 3_000, |_, asked| Some(forged(asked)));
    assert_eq!(lease(&keeper, 0), (LeaseState::Forged, 0));
}

#[test]
fn a_sink_that_does_not_take_what_is_sent_grants_no_lease() {
    use Encapsulation::{ExtensionUdp, OverTcpUdp, VxlanGpe};
    struct Case {
        name: &'static str,
        sent: Vec<Tagging>,
        answer: LeaseAnswer,
        state: LeaseState,
    }
    let other_mark = |tos_value, tos_mask, extension_port| LeaseAnswer {
        marks: Marks {
            tos_value,
            tos_mask,
            extension_port,
        },
        ..answer()
    };
    let takes = |all: &[Encapsulation]| LeaseAnswer {
        encapsulations: encapsulations(all),
        ..answer()
    };
    let case = |name, sent: &[Encapsulation], answer, state| Case {
        name,
        sent: vec![sending(sent)],
        answer,
        state,
    };
    let ok = LeaseState::Granted;
    let (mark, missing) = (LeaseState::Mark, LeaseState::Encapsulation);
    let cases = [
        case("all is the same", &Encapsulation::COUNTED, answer(), ok),
        case(
            "our own node id",
            &[VxlanGpe],
            LeaseAnswer {
                node: OUR_NODE,
                ..answer()
            },
            LeaseState::OwnNode,
        ),
        case(
            "over-tcp-udp is missing",
            &[OverTcpUdp],
            takes(&[ExtensionUdp, VxlanGpe]),
            missing,
        ),
        case(
            "extension-udp is missing",
            &[ExtensionUdp],
            takes(&[OverTcpUdp, VxlanGpe]),
            missing,
        ),
        case(
            "vxlan-gpe is missing",
            &[VxlanGpe],
            takes(&[OverTcpUdp, ExtensionUdp]),
            missing,
        ),
        case(
            "one of two is missing",
            &[OverTcpUdp, VxlanGpe],
            takes(&[OverTcpUdp]),
            missing,
        ),
        case(
            "just what is sent is there",
            &[ExtensionUdp],
            takes(&[ExtensionUdp]),
            ok,
        ),
        case(
            "another mark",
            &[OverTcpUdp],
            other_mark(0x08, 0xfc, 33122),
            mark,
        ),
        case(
            "another mask",
            &[OverTcpUdp],
            other_mark(0x04, 0x04, 33122),
            mark,
        ),
        case(
            "another mark where none is sent",
            &[ExtensionUdp, VxlanGpe],
            other_mark(0x08, 0x08, 33122),
            ok,
        ),
        case(
            "another port",
            &[ExtensionUdp],
            other_mark(0x04, 0xfc, 33123),
            mark,
        ),
        case(
            "another port that nothing is sent to",
            &[OverTcpUdp, VxlanGpe],
            other_mark(0x04, 0xfc, 1),
            ok,
        ),
        Case {
            name: "one of two interfaces sends what is missing",
            sent: vec![sending(&[OverTcpUdp]), sending(&[VxlanGpe])],
            answer: takes(&[OverTcpUdp]),
            state: missing,
        },
        Case {
            name: "one of two interfaces sends with another mark",
            sent: vec![
                sending(&[OverTcpUdp]),
                Tagging {
                    marks: Marks {
                        tos_value: 0x08,
                        ..MARKS
                    },
                    ..sending(&[OverTcpUdp])
                },
            ],
            answer: answer(),
            state: mark,
        },
        Case {
            name: "nothing is sent yet",
            sent: Vec::new(),
            answer: takes(&[]),
            state: ok,
        },
    ];
    for Case {
        name,
        sent,
        answer,
        state,
    } in cases
    {
        let mut keeper = keeper_that_sends(sent);
        keeper.want(pair(0), false, T);
        let asked = question(&mut keeper, T);
        take(&mut keeper, &reply(&asked, &answer), T + MS);
        let until = if state == ok { T + 950 * MS } else { 0 };
        assert_eq!(lease(&keeper, 0), (state, until), "{name}");
        assert_eq!(
            keeper.lease(&pair(0)).unwrap().answer,
            Some(answer),
            "{name}: what the sink said can be shown"
        );
    }
}

#[test]
fn answers_are_judged_by_what_is_sent_now() {
    let (mut keeper, _) = granted();
    keeper.set_ours(OwnTagging {
        node: NodeId(2),
        tagging: Vec::new(),
    });
    let asked = question(&mut keeper, T + 700 * MS);
    take(&mut keeper, &reply(&asked, &answer()), T + 401 * MS);
    assert_eq!(lease(&keeper, 0), (LeaseState::OwnNode, 0));
}

/// Two hosts answer every question: by pair, node id and instance, or none while it is down.
fn two_hosts(keeper: &mut LeaseKeeper, from: u64, for_ms: u64, instances: [Option<u64>; 2]) {
    for ms in 0..for_ms {
        let now = from + ms * MS;
        for (asked_pair, asked) in questions(keeper, now) {
            let host = usize::from(asked_pair == pair(1));
            if let Some(instance) = instances[host] {
                let said = LeaseAnswer {
                    instance,
                    ..answer()
                };
                take(keeper, &reply(&asked, &said), now);
            }
        }
    }
}

#[test]
fn of_two_hosts_with_one_node_id_the_first_one_keeps_its_lease() {
    let mut keeper = keeper();
    for n in [0, 1] {
        keeper.want(pair(n), true, T + u64::from(n));
    }
    two_hosts(&mut keeper, T + MS, 5_000, [Some(22), Some(33)]);
    let duplicate = LeaseState::Duplicate { addr: pair(0).dest };
    assert_eq!(lease(&keeper, 0).0, LeaseState::Granted, "the first");
    assert_eq!(lease(&keeper, 1), (duplicate, 0), "the second");

    two_hosts(&mut keeper, T + 5_001 * MS, 2_900, [None, Some(33)]);
    assert_eq!(
        lease(&keeper, 1).0,
        duplicate,
        "the first may come back soon"
    );
    two_hosts(&mut keeper, T + 7_901 * MS, 1_000, [None, Some(33)]);
    let state = lease(&keeper, 1).0;
    assert_eq!(state, LeaseState::Granted, "the first gave its id up");

    two_hosts(&mut keeper, T + 8_901 * MS, 1_000, [Some(22), Some(33)]);
    let duplicate = LeaseState::Duplicate { addr: pair(1).dest };
    assert_eq!(lease(&keeper, 0).0, duplicate, "now it is the second one");
}

#[test]
fn one_host_may_answer_at_several_addresses() {
    let mut keeper = keeper();
    for n in [0, 1] {
        keeper.want(pair(n), true, T);
    }
    two_hosts(&mut keeper, T, 5_000, [Some(22), Some(22)]);
    for n in [0, 1] {
        assert_eq!(lease(&keeper, n).0, LeaseState::Granted, "address {n}");
    }
}

#[test]
fn a_host_that_started_anew_is_no_second_one() {
    let (mut keeper, _) = granted();
    let asked = question(&mut keeper, T + 700 * MS);
    let anew = LeaseAnswer {
        instance: 99,
        ..answer()
    };
    take(&mut keeper, &reply(&asked, &anew), T + 701 * MS);
    assert_eq!(lease(&keeper, 0), (LeaseState::Granted, T + 1650 * MS));
}

#[test]
fn a_sink_is_silent_after_a_second_without_answer() {
    let mut never = keeper();
    never.want(pair(0), true, T);
    question(&mut never, T);
    let (ceased, _) = granted();
    for (name, mut keeper, before) in [
        ("it never answered", never, LeaseState::Asking),
        ("its answers ceased", ceased, LeaseState::Granted),
    ] {
        asked_at(&mut keeper, T + MS, 990, |_, _| None);
        assert_eq!(lease(&keeper, 0).0, before, "{name}: within a second");
        asked_at(&mut keeper, T + 991 * MS, 210, |_, _| None);
        let state = lease(&keeper, 0).0;
        assert_eq!(state, LeaseState::Silent, "{name}: after a second");
    }
}

#[test]
fn silent_sinks_are_asked_ever_less_often_unless_the_user_named_them() {
    let mut unnamed = keeper();
    unnamed.want(pair(0), false, T);
    let times = asked_at(&mut unnamed, T, 110_000, |_, _| None);
    let gaps: Vec<_> = times.windows(2).map(|two| two[1] - two[0]).collect();
    let expected = [
        400, 400, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 25_600, 25_600,
    ];
    assert_eq!(gaps, expected, "ms between two questions");

    let mut named = keeper();
    named.want(pair(0), true, T);
    let times = asked_at(&mut named, T, 100_000, |_, _| None);
    assert_eq!(times, Vec::from_iter((0..100_000).step_by(400)), "named");
}

#[test]
fn a_sink_that_begins_to_answer_is_asked_every_700_ms_again() {
    for silent_ms in [1_500, 5_000, 60_000] {
        let mut keeper = keeper();
        keeper.want(pair(0), false, T);
        asked_at(&mut keeper, T, silent_ms, |_, _| None);
        let from = T + silent_ms * MS;
        let times = asked_at(&mut keeper, from, 60_000, |_, asked| {
            Some(reply(asked, &answer()))
        });
        assert_every_700_ms(&times, 60_000, &format!("silent for {silent_ms} ms before"));
    }
}

#[test]
fn a_pair_that_the_user_names_is_asked_often_from_then_on() {
    let mut keeper = keeper();
    keeper.want(pair(0), false, T);
    asked_at(&mut keeper, T, 60_000, |_, _| None);
    let from = T + 60_000 * MS;
    keeper.want(pair(0), true, from);
    let times = asked_at(&mut keeper, from, 60_000, |_, _| None);
    let expected: Vec<_> = (times[0]..60_000).step_by(400).collect();
    assert_eq!(times, expected);
    assert_eq!(times[0], 0, "at once");
}

/// A keeper and what it knows of one sink's clock, whose answers take this long in both directions.
struct ClockTold {
    keeper: LeaseKeeper,
    /// The number of questions so far.
    number: u64,
}

impl ClockTold {
    fn new() -> Self {
        let mut keeper = keeper();
        keeper.want(pair(0), false, T);
        Self { keeper, number: 0 }
    }

    /// The sink stamps half way, by a clock that is ahead by this. Returns the middle, the least and the greatest that
    /// the lease tells, less what this host's clock is ahead of the raw clock.
    fn answer(&mut self, round_trip: u64, ahead: i64) -> Option<(i64, i64, i64)> {
        let now = T + self.number * 701 * MS;
        self.number += 1;
        let asked = question(&mut self.keeper, now);
        let middle = EPOCH + now + round_trip / 2;
        let said = LeaseAnswer {
            answered_ns: middle.wrapping_add_signed(ahead),
            ..answer()
        };
        take(&mut self.keeper, &reply(&asked, &said), now + round_trip);
        let clock = self.keeper.lease(&pair(0)).unwrap().clock?;
        assert_eq!(clock.raw_ns, RAW + now + round_trip);
        let middle = clock.ahead_ns - (EPOCH - RAW).cast_signed();
        let low = middle - clock.less_ns.cast_signed();
        Some((low, middle, middle + clock.more_ns.cast_signed()))
    }
}

#[test]
fn the_newest_answer_bounds_a_sinks_clock_and_the_quickest_ones_estimate_it() {
    // The question's bound ages while the answer travels: by 0.7 ns in a microsecond.
    let steps = [
        ("the first", 10_000, 5_000, (0, 5_004, 10_008)),
        ("a quicker one", 4_000, 7_000, (5_000, 7_001, 9_003)),
        (
            "a slow one bounds less, and tells no worse",
            90_000,
            1,
            (-44_999, 7_001, 45_065),
        ),
    ];
    let mut told = ClockTold::new();
    for (name, round_trip, ahead, expected) in steps {
        let (low, estimate, high) = told.answer(round_trip, ahead).unwrap();
        assert_eq!((low, high), (expected.0, expected.2), "{name}");
        assert!((estimate - expected.1).abs() < 10, "{name}: {estimate}");
    }
}

#[test]
fn a_sinks_clock_that_was_set_is_unknown_until_three_answers_agree() {
    let mut told = ClockTold::new();
    assert!(told.answer(10_000, 0).is_some());
    for (name, known) in [
        ("the first", false),
        ("the second", false),
        ("the third", true),
    ] {
        let found = told.answer(10_000, 5 * MS as i64);
        assert_eq!(
            found.is_some(),
            known,
            "{name} after the clock was set: {found:?}"
        );
    }
}

#[test]
fn a_sinks_clock_is_unknown_if_this_hosts_was_set_while_an_answer_was_on_its_way() {
    let cases: [(&str, i64, bool); 5] = [
        ("it ran on", 0, true),
        ("it was slewed", 900, true),
        ("it was set back a little", -900_000, true),
        ("it was set back", -2_000_000, false),
        ("it was set forward", 2_000_000, false),
    ];
    for (name, by, known) in cases {
        let mut keeper = keeper();
        keeper.want(pair(0), false, T);
        let asked = question(&mut keeper, T);
        let at = AnswerTime {
            realtime_ns: (EPOCH + T + MS).wrapping_add_signed(by),
            ..received(T + MS)
        };
        let said = LeaseAnswer {
            answered_ns: EPOCH + T,
            ..answer()
        };
        let taken = keeper.take(&reply(&asked, &said), at);
        assert_eq!(taken.map(|taken| taken.pair), Some(pair(0)), "{name}");
        assert_eq!(lease(&keeper, 0).0, LeaseState::Granted, "{name}");
        let clock = keeper.lease(&pair(0)).unwrap().clock;
        assert_eq!(clock.is_some(), known, "{name}: {clock:?}");
        if let Some(clock) = clock {
            let width = clock.less_ns + clock.more_ns;
            assert!(width >= MS + 2 * by.unsigned_abs(), "{name}: {clock:?}");
        }
    }
}

#[test]
fn a_clock_of_another_age_is_no_obstacle() {
    for answered_ns in [0, u64::MAX] {
        let mut keeper = keeper();
        keeper.want(pair(0), false, T);
        let asked = question(&mut keeper, T);
        let said = LeaseAnswer {
            answered_ns,
            ..answer()
        };
        take(&mut keeper, &reply(&asked, &said), T + MS);
        assert_eq!(lease(&keeper, 0).0, LeaseState::Granted, "{answered_ns}");
    }
}

#[test]
fn a_forgotten_pair_is_neither_asked_nor_granted_anything() {
    type Forget = fn(&mut LeaseKeeper);
    let ways: [(&str, Forget); 3] = [
        ("forgotten", |keeper| keeper.forget(&pair(0))),
        ("wanted no more", |keeper| {
            assert_eq!(keeper.forget_unwanted(T), [], "it was wanted");
            keeper.want(pair(0), false, T);
            assert_eq!(keeper.forget_unwanted(T), [], "it still was");
            assert_eq!(keeper.forget_unwanted(T), [pair(0)], "and now no more");
        }),
        ("cleared", LeaseKeeper::clear),
    ];
    for (name, forget) in ways {
        let (mut keeper, _) = granted();
        let asked = question(&mut keeper, T + 700 * MS);
        assert_eq!(keeper.pairs().count(), 1, "{name}");
        forget(&mut keeper);
        assert_eq!(keeper.pairs().count(), 0, "{name}");
        assert_eq!(keeper.lease(&pair(0)), None, "{name}");
        let payload = reply(&asked, &answer());
        let told = take(&mut keeper, &payload, T + 401 * MS);
        assert_eq!(told, None, "{name}: an answer comes too late");
        assert!(questions(&mut keeper, T + 9_000 * MS).is_empty(), "{name}");
        keeper.want(pair(0), false, T + 9_000 * MS);
        question(&mut keeper, T + 9_000 * MS);
        let state = lease(&keeper, 0);
        assert_eq!(state, (LeaseState::Asking, 0), "{name}: it begins anew");
    }
}

#[test]
fn forgetting_one_pair_leaves_the_others_alone() {
    let mut keeper = keeper();
    for n in 0..3 {
        keeper.want(pair(n), false, T);
    }
    keeper.forget(&pair(1));
    keeper.forget(&pair(9));
    let mut asked: Vec<_> = questions(&mut keeper, T).into_iter().map(|q| q.0).collect();
    asked.sort();
    assert_eq!(asked, [pair(0), pair(2)]);
}

#[test]
fn a_thousand_sinks_are_asked_every_800_ms_in_ten_lots_a_second_and_no_lease_ends() {
    const PAIRS: u16 = 1_000;
    struct Case {
        name: &'static str,
        round_trip_ms: u64,
        lost: fn(u64) -> bool,
    }
    let cases = [
        Case {
            name: "answered at once",
            round_trip_ms: 0,
            lost: |_| false,
        },
        Case {
            name: "answered after 10 ms",
            round_trip_ms: 10,
            lost: |_| false,
        },
        Case {
            name: "a third of the questions is lost",
            round_trip_ms: 2,
            lost: |number: u64| (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % 3 == 2,
        },
    ];
    for Case {
        name,
        round_trip_ms,
        lost,
    } in cases
    {
        let mut keeper = keeper_that_sends(Vec::new());
        // They come to be known whenever there are packets for them.
        let mut unknown: Vec<_> = (0..PAIRS).map(|n| (u64::from(n) * 7 % 699, n)).collect();
        let (mut number, mut on_the_way) = (0, Vec::new());
        let mut asked_at: HashMap<AddressPair, Vec<u64>> = HashMap::new();
        let (mut losses, mut granted) = (0, HashSet::new());
        for ms in 0..6_000 {
            let now = T + ms * MS;
            for (_, n) in unknown.extract_if(.., |(at, _)| *at <= ms) {
                keeper.want(pair(n), true, now);
            }
            for (asked_pair, asked) in questions(&mut keeper, now) {
                asked_at.entry(asked_pair).or_default().push(ms);
                let IpAddr::V4(dest) = asked.to else {
                    panic!("{} is asked", asked.to)
                };
                let said = LeaseAnswer {
                    node: NodeId(dest.into()),
                    instance: u64::from(u32::from(dest)),
                    ..answer()
                };
                match lost(number) {
                    true => losses += 1,
                    false => on_the_way.push((ms + round_trip_ms, reply(&asked, &said))),
                }
                number += 1;
            }
            for (_, payload) in on_the_way.extract_if(.., |(at, _)| *at <= ms) {
                take(&mut keeper, &payload, now);
            }
            if ms % 10 != 0 {
                continue;
            }
            for n in 0..PAIRS {
                let known = keeper.lease(&pair(n));
                let leased = known.is_some_and(|lease| lease.until_ns > now);
                if leased {
                    granted.insert(n);
                }
                let kept = leased || !granted.contains(&n);
                assert!(kept, "{name}: pair {n} lost its lease at {ms} ms");
            }
        }
        assert_eq!(
            granted.len(),
            usize::from(PAIRS),
            "{name}: each got a lease"
        );
        assert_eq!(asked_at.len(), usize::from(PAIRS), "{name}: each was asked");
        if losses > 0 {
            continue;
        }
        for (asked_pair, times) in &asked_at {
            for (which, two) in times.windows(2).enumerate() {
                let gap = two[1] - two[0];
                match which {
                    0 => assert!((50..=850).contains(&gap), "{name}: {gap} ms at first"),
                    // The first few are asked as often as few are.
                    _ if two[0] < 700 => assert!([700, 800].contains(&gap), "{name}: {gap} ms"),
                    _ => assert_eq!(gap, 800, "{name}: {asked_pair:?}"),
                }
            }
            let grid = times.iter().skip(1).all(|ms| ms % 100 == 0);
            assert!(grid, "{name}: with the others: {times:?}");
        }
    }
}

#[test]
fn of_many_sinks_those_without_packets_are_asked_seldom_and_at_once_when_there_is_one() {
    let mut keeper = keeper();
    for n in 0..300 {
        let (place, _) = keeper.want(pair(n), true, T);
        keeper.set_idle(place, true, T);
    }
    let mut asked = 0;
    for ms in 0..20_000 {
        let now = T + ms * MS;
        for (_, question) in questions(&mut keeper, now) {
            asked += u32::from(ms >= 5_000);
            take(&mut keeper, &reply(&question, &answer()), now);
        }
    }
    assert_eq!(asked, 300 * 3, "every five seconds");
    let states = (0..300).map(|n| lease(&keeper, n).0);
    assert!(states.into_iter().all(|state| state == LeaseState::Granted));
    let now = T + 20_000 * MS;
    let due: Vec<_> = questions(&mut keeper, now);
    let is_asleep =
        |n: &u16| lease(&keeper, *n).1 <= now && due.iter().all(|(one, _)| *one != pair(*n));
    let asleep = (0..300).find(is_asleep).expect("leases end meanwhile");
    let (place, _) = keeper.want(pair(asleep), true, now);
    keeper.set_idle(place, false, now);
    let due = questions(&mut keeper, now);
    assert_eq!(due.len(), 1, "the one with a packet is asked for");
    assert_eq!(due[0].0, pair(asleep));
}

#[test]
fn sinks_that_come_to_be_known_at_once_are_not_asked_at_once_ever_after() {
    let mut keeper = keeper();
    for n in 0..1_000 {
        keeper.want(pair(n), true, T);
    }
    for ms in 0..5_000 {
        let now = T + ms * MS;
        let asked = questions(&mut keeper, now);
        if ms >= 700 {
            let lot = asked.len();
            let even = if ms % 100 == 0 { 85..=165 } else { 0..=0 };
            assert!(even.contains(&lot), "{lot} questions at {ms} ms");
        }
        for (_, question) in asked {
            take(&mut keeper, &reply(&question, &answer()), now);
        }
    }
}
