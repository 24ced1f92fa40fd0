//! The compiled watchlist chooses the same rule as asking the rules one after the other, in user space and in the
//! kernel.

use std::net::{Ipv4Addr, Ipv6Addr};

use hostint::datapath::abi::{source_counter as count, watch_limit};
use hostint::datapath::watch::{CompiledWatchlist, TooComplex, compile};
use hostint::model::{DEFAULT_PRIORITY, Prefix, RuleHost, Transport, WatchAction, WatchRule};
use hostint_testing::frame::Frame;
use hostint_testing::model::layout;
use hostint_testing::model::watch::{Packet, decide};
use hostint_testing::packets::{tcp, udp, udp6};
use hostint_testing::programs::source::{Options, Source, TCX_NEXT};
use hostint_testing::random::{Random, env_number};

fn place(text: &str) -> RuleHost {
    RuleHost {
        text: text.to_owned(),
        prefixes: vec![text.parse().expect("a prefix")],
    }
}

fn rule() -> WatchRule {
    WatchRule {
        priority: DEFAULT_PRIORITY,
        fixed: true,
        ..WatchRule::default()
    }
}

fn to(prefix: &str) -> WatchRule {
    WatchRule {
        to: vec![place(prefix)],
        ..rule()
    }
}

fn exclude(rule: WatchRule) -> WatchRule {
    WatchRule {
        action: WatchAction::Exclude,
        ..rule
    }
}

fn compiled(rules: &[WatchRule]) -> Result<CompiledWatchlist, TooComplex> {
    compile(rules, |dev| (dev == "lo").then_some(1))
}

#[test]
fn ten_thousand_rules_of_each_usual_kind_fit() {
    let host = |n: u32| Ipv4Addr::from_bits(0x0a00_0000 + n).to_string();
    type Make = fn(u32, String) -> WatchRule;
    let cases: [(&str, Make); 6] = [
        ("a destination each", |_, host| to(&host)),
        ("a destination and a port each", |n, host| WatchRule {
            to_ports: vec![(n as u16).to_string().parse().expect("a port")],
            ..to(&host)
        }),
        ("a source and a destination each", |n, host| WatchRule {
            from: vec![place(&Ipv4Addr::from_bits(0x0b00_0000 + n / 7).to_string())],
            ..to(&host)
        }),
        ("a port each", |n, _| WatchRule {
            to_ports: vec![(n as u16).to_string().parse().expect("a port")],
            ..rule()
        }),
        ("all that can be asked, different for each", |n, host| {
            let port = |n: u32| vec![(n as u16).to_string().parse().expect("a port")];
            WatchRule {
                from: vec![place(&Ipv4Addr::from_bits(0x0b00_0000 + n).to_string())],
                protocols: vec![Transport::Tcp],
                dscp: vec![(n % 64) as u8],
                devs: vec!["lo".to_owned()],
                from_ports: port(n + 1),
                to_ports: port(n + 2),
                ..to(&host)
            }
        }),
        ("every tenth one an exception", |n, host| match n % 10 {
            0 => WatchRule {
                priority: 200,
                ..exclude(to(&host))
            },
            _ => WatchRule {
                protocols: vec![Transport::Tcp],
                ..to(&host)
            },
        }),
    ];
    for (name, make) in cases {
        let rules: Vec<WatchRule> = (0..10_000).map(|n| make(n, host(n))).collect();
        let list = compiled(&rules).unwrap_or_else(|err| panic!("{name}: {err}"));
        assert!(list.nodes.len() <= 50_010, "{name}: {}", list.nodes.len());
        assert!(list.edges.len() <= 50_000, "{name}: {}", list.edges.len());
    }
}

#[test]
fn rules_that_combine_in_too_many_ways_are_refused() {
    let host = |n: u32| Ipv4Addr::from_bits(0x0a00_0000 + n).to_string();
    let ports = (0..3000u32).map(|n| WatchRule {
        from: vec![place(&host(n))],
        priority: 200,
        ..rule()
    });
    // Each destination gets a verdict of its own behind each source.
    let dests = (0..3000u32).map(|n| WatchRule {
        one_packet_in: n + 2,
        ..to(&host(n))
    });
    let rules: Vec<WatchRule> = ports.chain(dests).collect();
    let err = compiled(&rules).expect_err("nine million ways");
    assert_eq!(err, TooComplex::Ways);

    let most = watch_limit::WATCH_PREFIXES.0;
    let prefixes = (0..=most).map(|n| Prefix::host(Ipv4Addr::from_bits(n)));
    // Neighbours differ, or they would be none.
    let rules = [WatchRule {
        to: vec![RuleHost {
            text: "many".to_owned(),
            prefixes: prefixes.collect(),
        }],
        ..rule()
    }];
    let err = compiled(&rules).expect_err("more than there is room for");
    assert_eq!(err, TooComplex::Places(most as usize + 1));
}

/// Few values, so that rules and packets meet.
struct Universe;

impl Universe {
    const V4: [&str; 9] = [
        "0.0.0.0/0",
        "10.0.0.0/8",
        "10.1.0.0/16",
        "10.1.2.0/24",
        "10.1.2.3",
        "10.1.2.4",
        "10.9.0.0/16",
        "192.0.2.0/24",
        "128.0.0.0/1",
    ];
    const V6: [&str; 5] = [
        "::/0",
        "2001:db8::/32",
        "2001:db8::7",
        "2001:db8:1::/48",
        "::ffff:10.1.2.3",
    ];
    const ADDRESSES: [[u8; 4]; 6] = [
        [10, 1, 2, 3],
        [10, 1, 2, 4],
        [10, 1, 9, 9],
        [10, 9, 1, 1],
        [192, 0, 2, 9],
        [203, 0, 113, 5],
    ];
    const PORTS: [u16; 8] = [0, 1, 80, 81, 443, 8080, 65534, 65535];
    const RANGES: [&str; 9] = [
        "0-65535",
        "0",
        "0-80",
        "80-81",
        "81-443",
        "443",
        "8000-8099",
        "1024-65535",
        "65535",
    ];

    fn some<T: Clone>(random: &mut Random, from: &[T], most: usize) -> Vec<T> {
        let number = if random.one_in(2) {
            0
        } else {
            1 + random.below(most)
        };
        (0..number)
            .map(|_| from[random.below(from.len())].clone())
            .collect()
    }

    fn places(random: &mut Random) -> Vec<RuleHost> {
        let all = [&Self::V4[..], &Self::V6[..]].concat();
        let mut places: Vec<RuleHost> =
            Self::some(random, &all, 3).into_iter().map(place).collect();
        if random.one_in(20) {
            // A name that is not resolved.
            places.push(RuleHost {
                text: "nowhere".to_owned(),
                prefixes: Vec::new(),
            });
        }
        places
    }

    fn rule(random: &mut Random) -> WatchRule {
        let ranges: Vec<_> = Self::RANGES
            .iter()
            .map(|text| text.parse().expect("ports"))
            .collect();
        WatchRule {
            action: if random.one_in(3) {
                WatchAction::Exclude
            } else {
                WatchAction::Watch
            },
            priority: random.below(4) as u16,
            from: Self::places(random),
            to: Self::places(random),
            protocols: Self::some(random, &[Transport::Tcp, Transport::Udp], 2),
            from_ports: Self::some(random, &ranges, 2),
            to_ports: Self::some(random, &ranges, 2),
            dscp: Self::some(random, &[0, 8, 46], 2),
            devs: Self::some(random, &["lo".to_owned(), "gone0".to_owned()], 1),
            ..rule()
        }
    }

    fn packet(random: &mut Random) -> Frame {
        let v6 = |random: &mut Random| match random.below(4) {
            0 => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 7),
            1 => Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1),
            2 => Ipv4Addr::new(10, 1, 2, 3).to_ipv6_mapped(),
            _ => Ipv6Addr::new(0x2001, 0xdb9, 0, 0, 0, 0, 0, 1),
        };
        let frame = Frame::ethernet();
        let frame = if random.one_in(3) {
            let (from, to) = (v6(random), v6(random));
            frame.ipv6().addresses6(from, to)
        } else {
            let (from, to) = (random.pick(&Self::ADDRESSES), random.pick(&Self::ADDRESSES));
            frame.ipv4().from(from).to(to)
        };
        let frame = if random.one_in(2) {
            frame.tcp()
        } else {
            frame.udp()
        };
        let frame = if random.one_in(4) {
            frame.vlan(7)
        } else {
            frame
        };
        frame
            .ports(random.pick(&Self::PORTS), random.pick(&Self::PORTS))
            .dscp(random.pick(&[0, 8, 10, 46]))
            .payload(32)
    }
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    fn load(rules: Vec<WatchRule>) -> Source {
        let mut source = Source::load_watching_nothing(&Options::default());
        source.set_rules(rules);
        source
    }

    /// What became of the packet, by the one counter that counted it.
    fn fate(source: &Source, frame: &Frame) -> usize {
        source.zero_counters();
        let bytes = frame.bytes();
        let ran = source.run(&bytes);
        assert_eq!(ran.verdict, TCX_NEXT);
        let counters = source.counters();
        let fates = [
            count::COUNT_SOURCE_TAGGED,
            count::COUNT_SOURCE_UNWATCHED,
            count::COUNT_SOURCE_EXCLUDED,
            count::COUNT_SOURCE_NOT_SAMPLED,
        ];
        let counted: Vec<usize> = fates
            .iter()
            .map(|fate| fate.0 as usize)
            .filter(|fate| counters[*fate].0 > 0)
            .collect();
        assert_eq!(counted.len(), 1, "{counters:?}");
        let tagged = counted[0] == count::COUNT_SOURCE_TAGGED.0 as usize;
        assert_eq!(ran.bytes != bytes, tagged);
        counted[0]
    }

    fn fate_by(rule: Option<&WatchRule>) -> usize {
        let which = match rule.map(|rule| rule.action) {
            None => count::COUNT_SOURCE_UNWATCHED,
            Some(WatchAction::Exclude) => count::COUNT_SOURCE_EXCLUDED,
            Some(WatchAction::Watch) => count::COUNT_SOURCE_TAGGED,
        };
        which.0 as usize
    }

    fn fate_in_model(rules: &[WatchRule], frame: &Frame) -> usize {
        let bytes = frame.bytes();
        let at = layout::find(&bytes).expect("a packet");
        fate_by(decide(rules, &Packet::of(&bytes, &at, 1)))
    }

    #[test]
    fn the_rule_that_comes_first_decides() {
        struct Case {
            name: &'static str,
            rules: Vec<WatchRule>,
            tagged: Vec<Frame>,
            excluded: Vec<Frame>,
            unwatched: Vec<Frame>,
        }
        let http = || WatchRule {
            protocols: vec![Transport::Tcp],
            to_ports: vec![
                "80".parse().expect("a port"),
                "8000-8099".parse().expect("ports"),
            ],
            ..rule()
        };
        let cases = [
            Case {
                name: "without rules nothing is watched",
                rules: Vec::new(),
                tagged: vec![],
                excluded: vec![],
                unwatched: vec![tcp(), udp6()],
            },
            Case {
                name: "a rule that asks nothing watches everything",
                rules: vec![rule()],
                tagged: vec![tcp(), udp6(), udp().dscp(46).vlan(3)],
                excluded: vec![],
                unwatched: vec![],
            },
            Case {
                name: "ports and protocol",
                rules: vec![http()],
                tagged: vec![
                    tcp().ports(9, 80),
                    tcp().ports(9, 8000),
                    tcp().ports(9, 8099),
                ],
                excluded: vec![],
                unwatched: vec![
                    udp().ports(9, 80),
                    tcp().ports(80, 79),
                    tcp().ports(9, 8100),
                    tcp().ports(9, 7999),
                ],
            },
            Case {
                name: "exclude wins at the same priority, though its prefix is shorter",
                rules: vec![to("198.51.100.2"), exclude(to("198.51.0.0/16"))],
                tagged: vec![],
                excluded: vec![tcp()],
                unwatched: vec![udp6()],
            },
            Case {
                name: "a higher priority wins, whatever the action",
                rules: vec![
                    exclude(to("198.51.0.0/16")),
                    WatchRule {
                        priority: DEFAULT_PRIORITY + 1,
                        ..http()
                    },
                ],
                tagged: vec![tcp().ports(1, 80)],
                excluded: vec![tcp().ports(1, 81), udp().ports(1, 80)],
                unwatched: vec![udp6()],
            },
            Case {
                name: "a source address",
                rules: vec![WatchRule {
                    from: vec![place("192.0.2.0/24")],
                    ..rule()
                }],
                tagged: vec![tcp()],
                excluded: vec![],
                unwatched: vec![tcp().from([192, 0, 3, 1]), udp6()],
            },
            Case {
                name: "DSCP as the application set it",
                rules: vec![WatchRule {
                    dscp: vec![46],
                    ..rule()
                }],
                tagged: vec![udp().dscp(46), udp6().dscp(46)],
                excluded: vec![],
                unwatched: vec![udp(), udp().dscp(45)],
            },
            Case {
                name: "an interface that there is, and one that there is not",
                rules: vec![
                    WatchRule {
                        devs: vec!["lo".to_owned()],
                        ..to("198.51.100.2")
                    },
                    WatchRule {
                        devs: vec!["gone0".to_owned()],
                        ..rule()
                    },
                ],
                tagged: vec![tcp()],
                excluded: vec![],
                unwatched: vec![tcp().to([198, 51, 100, 3])],
            },
            Case {
                name: "a name that is not resolved fits nothing",
                rules: vec![WatchRule {
                    to: vec![RuleHost {
                        text: "host-r".to_owned(),
                        prefixes: Vec::new(),
                    }],
                    ..rule()
                }],
                tagged: vec![],
                excluded: vec![],
                unwatched: vec![tcp(), udp6()],
            },
        ];
        for case in cases {
            let source = load(case.rules);
            let expected = [
                (case.tagged, count::COUNT_SOURCE_TAGGED),
                (case.excluded, count::COUNT_SOURCE_EXCLUDED),
                (case.unwatched, count::COUNT_SOURCE_UNWATCHED),
            ];
            for (frames, counter) in expected {
                for frame in frames {
                    let found = fate(&source, &frame);
                    assert_eq!(found, counter.0 as usize, "{}: {frame:?}", case.name);
                }
            }
        }
    }

    #[test]
    fn random_rules_decide_as_if_asked_one_after_the_other() {
        let (mut random, seed) = Random::from_env();
        let mut source = Source::load_watching_nothing(&Options {
            flows: 65_536,
            ..Options::default()
        });
        for list in 0..env_number("HOSTINT_TEST_ROUNDS", 150) {
            let rules: Vec<WatchRule> = (0..1 + random.below(30))
                .map(|_| Universe::rule(&mut random))
                .collect();
            source.set_rules(rules.clone());
            for _ in 0..100 {
                let frame = Universe::packet(&mut random);
                let expected = fate_in_model(&rules, &frame);
                let found = fate(&source, &frame);
                assert_eq!(
                    found, expected,
                    "seed {seed}, list {list}: {frame:?}\n{rules:#?}"
                );
            }
        }
    }

    #[test]
    fn sampled_flows_are_the_same_in_both_directions_and_as_many_as_asked_for() {
        // Both hosts of a flow, each with programs of its own.
        let [here, far] = [(); 2].map(|()| {
            load(vec![WatchRule {
                one_flow_in: 4,
                ..rule()
            }])
        });
        let tagged = count::COUNT_SOURCE_TAGGED.0 as usize;
        let (a, b) = ([10, 0, 0, 1], [10, 0, 0, 2]);
        let mut watched = 0;
        for port in 0..800 {
            let there = tcp().from(a).to(b).ports(40_000 + port, 443);
            let back = tcp().from(b).to(a).ports(443, 40_000 + port);
            let fates = [(&here, &there), (&far, &back), (&here, &there)];
            let fates = fates.map(|(source, frame)| fate(source, frame));
            assert!(
                fates[0] == fates[1] && fates[1] == fates[2],
                "port {port}: {fates:?}"
            );
            watched += u32::from(fates[0] == tagged);
        }
        // 200 are to be expected, give or take 12.
        assert!((140..=260).contains(&watched), "{watched} of 800");
    }

    #[test]
    fn one_packet_in_so_many_is_tagged_and_the_others_are_counted() {
        let source = load(vec![WatchRule {
            one_packet_in: 5,
            ..to("198.51.100.2")
        }]);
        let frame = tcp().bytes();
        for _ in 0..2000 {
            source.run(&frame);
        }
        let counters = source.counters();
        let tagged = counters[count::COUNT_SOURCE_TAGGED.0 as usize].0;
        let left = counters[count::COUNT_SOURCE_NOT_SAMPLED.0 as usize].0;
        assert_eq!(tagged + left, 2000);
        assert!((280..=520).contains(&tagged), "{tagged} of 2000");
    }

    #[test]
    fn a_list_that_does_not_fit_leaves_the_old_one() {
        let rules = vec![to("198.51.100.2"), exclude(to("10.0.0.0/8"))];
        let source = load(rules.clone());
        let list = source.watchlist();
        assert_eq!(list.rules().expect("readable"), rules);
        let many =
            (0..=watch_limit::WATCH_PREFIXES.0).map(|n| Prefix::host(Ipv4Addr::from_bits(n)));
        let too_many = WatchRule {
            to: vec![RuleHost {
                text: "many".to_owned(),
                prefixes: many.collect(),
            }],
            ..rule()
        };
        let err = list.replace(&[too_many]).expect_err("no room");
        assert!(err.to_string().contains("65537 prefixes"), "{err}");
        assert_eq!(list.rules().expect("readable"), rules);
        assert_eq!(fate(&source, &tcp()), count::COUNT_SOURCE_TAGGED.0 as usize);
    }

    #[test]
    fn nothing_of_a_former_list_is_left() {
        let many: Vec<WatchRule> = (0..5000u32)
            .map(|n| WatchRule {
                from_ports: vec![(n as u16).to_string().parse().expect("a port")],
                ..to(&Ipv4Addr::from_bits(0x0a00_0000 + n).to_string())
            })
            .collect();
        let source = load(many.clone());
        let list = source.watchlist();
        assert_eq!(list.rules().expect("readable"), many);
        for _ in 0..2 {
            list.replace(&[to("198.51.100.2")]).expect("room");
        }
        assert_eq!(list.places4.keys().count(), 1);
        assert_eq!(list.edges.keys().count(), 0);
        assert_eq!(list.texts.keys().count(), 1);
        assert_eq!(fate(&source, &tcp()), count::COUNT_SOURCE_TAGGED.0 as usize);
        let former = tcp().to([10, 0, 0, 7]).ports(7, 7);
        assert_eq!(
            fate(&source, &former),
            count::COUNT_SOURCE_UNWATCHED.0 as usize
        );
    }
}
