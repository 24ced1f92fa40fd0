//! The hosts of a source and of its sink tell each other their names, once for each answer that arrived, and nobody else.

use std::net::IpAddr;

use hostint::lease::{HeardName, LeaseKeeper, NameExchange, OutgoingName, OwnName, OwnTagging};
use hostint::model::node_identity::{MOST_NAME_BYTES, is_plain};
use hostint::model::{Capabilities, FullAnswer, FullQuestion, LeaseKey, LeaseWitness, NodeId};
use hostint::wire::lease::message::{FULL_LEN, encode_full_answer, encode_full_question};
use hostint::wire::lease::name::{MAGIC, NAME_LEN, NameMessage, NameReceipt, decode, encode};
use hostint_testing::random::Random;

use super::network::{KEY, MS, PAIR, T};

const SECOND: u64 = 1000 * MS;
const OTHER: IpAddr = super::network::OTHER_HOST;
const A_DAEMON: u32 = 1024;

/// One host: its leases and its names.
struct NamedHost {
    keeper: LeaseKeeper,
    names: NameExchange,
}

impl NamedHost {
    fn new(node: u32, name: &str) -> Self {
        let mut keeper = LeaseKeeper::new(KEY, OwnTagging::default(), || 1);
        keeper.want(PAIR, true, T);
        let mut names = NameExchange::default();
        names.set_own(own(node, name));
        Self { keeper, names }
    }

    fn answered(&mut self, message: &[u8], now_ns: u64) -> Option<OutgoingName> {
        self.names.note_answer(&self.keeper, message, &PAIR, now_ns)
    }

    fn asked(&mut self, message: &[u8], now_ns: u64) {
        (self.names).note_question(&self.keeper, message, PAIR.source, now_ns);
    }

    fn take(&mut self, sent: &OutgoingName, now_ns: u64) -> Option<OutgoingName> {
        let addresses = (sent.from, sent.to);
        (self.names).take(&self.keeper, &sent.message, addresses, now_ns)
    }

    fn heard(&mut self) -> Vec<(u32, String)> {
        let heard = self.names.take_heard().into_iter();
        let each = heard.map(|HeardName { node, name, .. }| (node.0, name));
        each.collect()
    }
}

fn own(node: u32, name: &str) -> OwnName {
    OwnName {
        node: NodeId(node),
        instance: 100 + u64::from(node),
        name: name.to_owned(),
    }
}

fn source() -> NamedHost {
    NamedHost::new(1, "web-1")
}

fn sink() -> NamedHost {
    NamedHost::new(2, "db-2")
}

/// A full question of the pair with the answer of its sink.
fn lease(nonce: u64, answered_ns: u64, capabilities: u32, key: LeaseKey) -> [u8; FULL_LEN] {
    let question = FullQuestion {
        nonce,
        flow_source: PAIR.source,
        origin: PAIR.source,
        asked_ns: 1,
        source_node: NodeId(1),
        capabilities: Capabilities::default(),
        round: 0,
    };
    let answer = FullAnswer {
        witness: LeaseWitness {
            answered_ns,
            ..LeaseWitness::default()
        },
        instance: 102,
        node: NodeId(2),
        capabilities: Capabilities::from_bits(capabilities),
        ..FullAnswer::default()
    };
    let asked = encode_full_question(&question, PAIR.dest, key);
    encode_full_answer(&asked, &answer, key)
}

fn granted(nonce: u64) -> [u8; FULL_LEN] {
    lease(nonce, 7_000 + nonce, A_DAEMON, KEY)
}

#[test]
fn both_hosts_learn_each_others_name_by_one_message_each() {
    let (mut source, mut sink) = (source(), sink());
    let message = granted(5);
    sink.asked(&message, T);
    let told = source.answered(&message, T).expect("it is due");
    assert_eq!((told.from, told.to), (PAIR.source, PAIR.dest));
    let answer = sink.take(&told, T).expect("it has the receipt");
    assert_eq!((answer.from, answer.to), (PAIR.dest, PAIR.source));
    assert_eq!(source.take(&answer, T), None, "an answer is not answered");
    assert_eq!(sink.heard(), [(1, "web-1".to_owned())]);
    assert_eq!(source.heard(), [(2, "db-2".to_owned())]);
    assert_eq!(sink.take(&told, T), None, "a receipt counts once");
    assert_eq!(source.take(&answer, T), None, "and so does an answer");
    assert!(sink.heard().is_empty() && source.heard().is_empty());
}

#[test]
fn a_host_that_tells_no_name_hears_those_of_others() {
    let (mut source, mut sink) = (NamedHost::new(1, ""), NamedHost::new(2, ""));
    sink.asked(&granted(5), T);
    let told = source.answered(&granted(5), T).unwrap();
    let answer = sink.take(&told, T).unwrap();
    source.take(&answer, T);
    assert_eq!(sink.heard(), [(1, String::new())], "a former name goes");
    assert_eq!(source.heard(), [(2, String::new())]);
}

#[test]
fn nothing_is_sent_to_who_did_not_get_an_answer() {
    let receipt = |nonce, answered_ns| NameReceipt { nonce, answered_ns };
    let right = receipt(5, 7_005);
    let (here, there) = (PAIR.source, PAIR.dest);
    for (sentence, receipt, key, addresses, later_ns) in [
        ("another nonce", receipt(6, 7_005), KEY, (here, there), 0),
        ("another time", receipt(5, 7_006), KEY, (here, there), 0),
        ("another address", right, KEY, (OTHER, there), 0),
        ("another key", right, LeaseKey([8; 16]), (here, there), 0),
        ("too late", right, KEY, (here, there), 5 * SECOND),
    ] {
        let mut sink = sink();
        sink.asked(&granted(5), T);
        let message = NameMessage {
            receipt,
            instance: 1,
            node: NodeId(1),
            is_answer: false,
            name: "forged".to_owned(),
        };
        let (from, to) = addresses;
        let sent = OutgoingName {
            from,
            to,
            message: encode(&message, from, to, key),
        };
        assert_eq!(sink.take(&sent, T + later_ns), None, "{sentence}");
        assert_eq!(sink.heard(), [], "{sentence}");
        if later_ns == 0 {
            let told = source().answered(&granted(5), T).unwrap();
            assert!(sink.take(&told, T).is_some(), "{sentence}: the right one");
        }
    }
    let mut sink = sink();
    sink.asked(&lease(5, 7_005, A_DAEMON, LeaseKey([8; 16])), T);
    let told = source().answered(&granted(5), T).unwrap();
    assert_eq!(sink.take(&told, T), None, "the question was forged");
}

#[test]
fn an_answer_counts_only_from_the_host_that_was_told() {
    let mut source = source();
    let told = source.answered(&granted(5), T).unwrap();
    let answer = |nonce, from| {
        let message = NameMessage {
            receipt: NameReceipt {
                nonce,
                answered_ns: 7_005,
            },
            instance: 1,
            node: NodeId(2),
            is_answer: true,
            name: "db-2".to_owned(),
        };
        OutgoingName {
            from,
            to: told.from,
            message: encode(&message, from, told.from, KEY),
        }
    };
    source.take(&answer(5, OTHER), T);
    source.take(&answer(6, told.to), T);
    assert_eq!(source.heard(), []);
    source.take(&answer(5, told.to), T);
    assert_eq!(source.heard(), [(2, "db-2".to_owned())]);
}

/// The seconds after which a name was told, when each second a full answer comes.
fn told_after(seconds: u64, source: &mut NamedHost, sink: Option<&mut NamedHost>) -> Vec<u64> {
    let mut times = Vec::new();
    let mut sink = sink;
    for second in 0..seconds {
        let (message, now_ns) = (granted(second), T + second * SECOND);
        if let Some(sink) = &mut sink {
            sink.asked(&message, now_ns);
        }
        let Some(told) = source.answered(&message, now_ns) else {
            continue;
        };
        times.push(second);
        let answer = sink.as_mut().and_then(|sink| sink.take(&told, now_ns));
        if let Some(answer) = answer {
            source.take(&answer, now_ns);
        }
    }
    times
}

#[test]
fn names_are_told_again_seldom_and_ever_more_seldom_to_who_does_not_answer() {
    let (mut one, mut other) = (source(), sink());
    assert_eq!(told_after(1300, &mut one, Some(&mut other)), [0, 600, 1200]);
    let times = told_after(2500, &mut source(), None);
    assert_eq!(times, [0, 20, 60, 140, 300, 620, 1220, 1820, 2420]);
}

#[test]
fn another_name_is_told_with_the_next_answer() {
    let (mut source, mut sink) = (source(), sink());
    assert_eq!(told_after(1, &mut source, Some(&mut sink)), [0]);
    source.names.set_own(own(1, "web-1"));
    let same = told_after(1, &mut source, Some(&mut sink));
    assert!(same.is_empty(), "the same name");
    source.names.set_own(own(1, "web-one"));
    assert_eq!(told_after(1, &mut source, Some(&mut sink)), [0]);
    let last = sink.heard().pop();
    assert_eq!(last, Some((1, "web-one".to_owned())));
}

#[test]
fn sinks_without_a_daemon_are_told_nothing() {
    let mut source = source();
    let message = lease(5, 7_005, 0, KEY);
    assert_eq!(source.answered(&message, T), None, "no daemon");
    let other = lease(5, 7_005, A_DAEMON, LeaseKey([8; 16]));
    assert_eq!(source.answered(&other, T), None, "a forged answer");
}

fn message(name: &str) -> NameMessage {
    NameMessage {
        receipt: NameReceipt {
            nonce: 0x0102_0304_0506_0708,
            answered_ns: 0x1112_1314_1516_1718,
        },
        instance: 0x2122_2324_2526_2728,
        node: NodeId(0x3132_3334),
        is_answer: true,
        name: name.to_owned(),
    }
}

fn written(name: &str) -> [u8; NAME_LEN] {
    encode(&message(name), PAIR.source, PAIR.dest, KEY)
}

fn read(bytes: &[u8]) -> Result<NameMessage, hostint::wire::lease::LeaseError> {
    decode(bytes, PAIR.source, PAIR.dest, KEY)
}

#[test]
fn a_message_stands_byte_by_byte_as_the_manual_draws_it() {
    let bytes = written("web");
    let mut fields = b"hinn\0\0\0\x02".to_vec();
    fields.extend([1, 2, 3, 4, 5, 6, 7, 8]);
    fields.extend([0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18]);
    fields.extend([0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28]);
    fields.extend([0x31, 0x32, 0x33, 0x34, 0, 1, 0, 3]);
    fields.extend(b"web");
    fields.resize(168, 0);
    assert_eq!(bytes[..168], fields);
    assert_eq!(MAGIC.to_be_bytes(), *b"hinn");
    assert_eq!(read(&bytes), Ok(message("web")));
}

#[test]
fn names_are_bounded_and_show_as_themselves() {
    let long = "ü".repeat(100);
    for (sentence, told, known) in [
        ("none", "", ""),
        ("128 bytes", &*"x".repeat(128), &*"x".repeat(128)),
        ("longer, cut between characters", &long, &"ü".repeat(64)),
        (
            "what does not show is left out",
            "a\u{202e}b\nc\u{1b}",
            "abc",
        ),
    ] {
        assert_eq!(read(&written(told)).unwrap().name, known, "{sentence}");
    }
}

/// The same bytes with the tag of a host that has the key.
fn tagged(bytes: &[u8; NAME_LEN]) -> Vec<u8> {
    use std::hash::Hasher;

    let mut hasher = siphasher::sip::SipHasher24::new_with_key(&KEY.0);
    hasher.write(&bytes[..168]);
    for address in [PAIR.source, PAIR.dest] {
        let IpAddr::V4(v4) = address else {
            panic!("the pair is of IPv4");
        };
        hasher.write(&v4.to_ipv6_mapped().octets());
    }
    let mut tagged = bytes[..168].to_vec();
    tagged.extend(hasher.finish().to_be_bytes());
    tagged
}

#[test]
fn any_bytes_are_refused_or_are_a_name_that_shows() {
    let right = written("web-3");
    for length in 0..NAME_LEN {
        assert!(read(&right[..length]).is_err(), "{length} bytes");
    }
    for at in 0..NAME_LEN {
        let mut wrong = right;
        wrong[at] ^= 1;
        assert!(read(&wrong).is_err(), "byte {at}");
    }
    assert!(decode(&right, PAIR.dest, PAIR.source, KEY).is_err());
    let (mut random, seed) = Random::from_env();
    let mut read_ones = 0;
    for _ in 0..10_000 {
        let mut bytes = right;
        let noise = random.bytes(NAME_LEN);
        let from = random.below(NAME_LEN);
        bytes[from..].copy_from_slice(&noise[from..]);
        if random.one_in(2) {
            // Lengths that are possible.
            bytes[38] = 0;
            bytes[39] %= 160;
        }
        let Ok(found) = read(&tagged(&bytes)) else {
            continue;
        };
        read_ones += 1;
        assert!(found.name.chars().all(is_plain), "seed {seed}: {found:?}");
        assert!(found.name.chars().count() <= MOST_NAME_BYTES, "seed {seed}");
    }
    assert!(read_ones > 1000, "{read_ones} were read");
}

#[test]
fn nothing_is_told_before_a_host_knows_its_own_name() {
    let unnamed = || NamedHost {
        names: NameExchange::default(),
        ..source()
    };
    let (mut one, mut other) = (unnamed(), unnamed());
    assert_eq!(one.answered(&granted(5), T), None);
    let told = source().answered(&granted(5), T).unwrap();
    other.asked(&granted(5), T);
    assert_eq!(other.take(&told, T), None);
    other.names.set_own(own(2, "db-2"));
    assert!(other.take(&told, T).is_some(), "the receipt is still good");
}
