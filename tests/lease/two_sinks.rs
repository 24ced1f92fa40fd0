//! Where a question passes two sinks, the first one that can answers it, and the second one changes nothing, but permits the
//! sender.

use hostint::datapath::abi::{sink_counter, sink_flag};
use hostint::model::LeaseKey;
use hostint::wire::lease::message::{LeaseEcho, decode_echo};
use hostint_testing::frame::Frame;
use hostint_testing::lease_cases::{HOOKS, Hook, KEY, addresses};
use hostint_testing::programs::sink::{Sink, Sizes, settings};

use super::full_answer::{full, full_question, message_at, short};

const OTHER_KEY: LeaseKey = LeaseKey([9; 16]);

fn sink(instance: u64, key: LeaseKey, flags: u32) -> Sink {
    let mut set = settings();
    set.flags |= flags;
    let sizes = Sizes {
        tc: true,
        ..Sizes::default()
    };
    let sink = Sink::load_sized(&set, sizes);
    sink.set_lease_key(key);
    sink.set_host(|host| host.instance = instance);
    sink
}

/// The node of the sink that answered, if one did.
fn answered(bytes: &[u8], v6: bool) -> Option<bool> {
    match decode_echo(&bytes[message_at(v6, 0)..], KEY).ok()? {
        LeaseEcho::Full(echo) => Some(echo.answer.is_some()),
        LeaseEcho::Short(echo) => Some(echo.answer.is_some()),
    }
}

fn run(hook: &Hook, sink: &Sink, bytes: &[u8], name: &str) -> Vec<u8> {
    let ran = (hook.run)(sink, bytes);
    assert_eq!(ran.verdict, hook.pass, "{name}");
    ran.bytes
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn the_first_sink_that_has_the_sources_key_answers() {
        struct Case {
            name: &'static str,
            keys: [LeaseKey; 2],
            second_flags: u32,
            /// Does the second one leave what the first one wrote?
            stays: bool,
            /// Does the second one permit the sender?
            permits: bool,
        }
        let astray = sink_flag::SINK_ASTRAY.0;
        let cases = [
            Case {
                name: "both have the source's key",
                keys: [KEY, KEY],
                second_flags: 0,
                stays: true,
                permits: true,
            },
            Case {
                name: "the second one is no one's: packets come astray there",
                keys: [KEY, KEY],
                second_flags: astray,
                stays: true,
                permits: false,
            },
            Case {
                name: "the second one has another key",
                keys: [KEY, OTHER_KEY],
                second_flags: 0,
                stays: true,
                permits: false,
            },
            Case {
                name: "the first one has another key",
                keys: [OTHER_KEY, KEY],
                second_flags: 0,
                stays: false,
                permits: true,
            },
        ];
        for case in cases {
            for hook in &HOOKS {
                let first = sink(1, case.keys[0], 0);
                let second = sink(2, case.keys[1], case.second_flags);
                for v6 in [false, true] {
                    let questions: [(&str, Frame); 2] = [
                        ("a full question", full(v6, &full_question(v6))),
                        ("a short one", short(v6)),
                    ];
                    for (kind, question) in questions {
                        let name = format!("{}, {kind}, {}, IPv6: {v6}", case.name, hook.name);
                        let after_first = run(hook, &first, &question.bytes(), &name);
                        let after_both = run(hook, &second, &after_first, &name);
                        assert_eq!(after_both == after_first, case.stays, "{name}");
                        assert_eq!(answered(&after_both, v6), Some(true), "{name}");
                    }
                    let grant = second.grant(addresses(v6).0);
                    let permitted = grant.is_some_and(|grant| grant.until_ns > 0);
                    assert_eq!(permitted, case.permits, "{}, IPv6: {v6}", case.name);
                }
                let forged = second.count(sink_counter::COUNT_SINK_LEASE_FORGED);
                assert_eq!(forged, 0, "{}", case.name);
            }
        }
    }
}
