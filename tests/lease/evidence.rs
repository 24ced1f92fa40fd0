//! What the evidence of a path opens, case by case, and that no kind of it is superfluous.

use hostint::lease::PathEvidence;
use hostint::model::{Encapsulation, Encapsulations, ProbeForm, ProbeForms, Transport, Ways};
use hostint_testing::random::Random;

use Encapsulation::{ExtensionUdp, IntMd, Ioam, Options, OverTcpUdp, VxlanGpe};

fn encapsulations(all: &[Encapsulation]) -> Encapsulations {
    all.iter()
        .fold(Encapsulations::default(), |set, one| set.with(*one))
}

fn forms(all: &[ProbeForm]) -> ProbeForms {
    all.iter().copied().collect()
}

/// The user chose options; the sink reads all; nothing was probed.
fn nothing_probed() -> PathEvidence {
    PathEvidence {
        wished: encapsulations(&[Options]),
        read: encapsulations(&Encapsulation::ALL),
        passed: ProbeForms::NONE,
        narrow: ProbeForms::NONE,
        options_trusted: true,
        ipv6: false,
    }
}

/// The user chose tunnels, of which both pass, and stray packets do.
fn tunnels() -> PathEvidence {
    PathEvidence {
        wished: encapsulations(&[VxlanGpe]),
        passed: forms(&[ProbeForm::Gpe, ProbeForm::Extension, ProbeForm::Stray]),
        ..nothing_probed()
    }
}

/// The user chose ioam, which passes, and so does over-tcp-udp.
fn ioam() -> PathEvidence {
    PathEvidence {
        wished: encapsulations(&[Ioam]),
        passed: forms(&[ProbeForm::Ioam, ProbeForm::OverUdp]),
        ipv6: true,
        ..nothing_probed()
    }
}

#[test]
fn each_evidence_opens_and_closes_what_the_page_says() {
    let cases: [(&str, PathEvidence, &[&str]); 19] = [
        (
            "options of TCP need a lease alone",
            nothing_probed(),
            &["tcp options"],
        ),
        (
            "options of UDP need probes",
            PathEvidence {
                passed: forms(&[ProbeForm::Options]),
                ..nothing_probed()
            },
            &["tcp options", "udp options"],
        ),
        (
            "segments in options came to nothing",
            PathEvidence {
                options_trusted: false,
                passed: forms(&[ProbeForm::Options]),
                ..nothing_probed()
            },
            &["udp options"],
        ),
        (
            "the sink does not read options",
            PathEvidence {
                read: encapsulations(&[VxlanGpe]),
                passed: forms(&[ProbeForm::Options]),
                ..nothing_probed()
            },
            &[],
        ),
        (
            "the user chose no options",
            PathEvidence {
                wished: encapsulations(&[]),
                ..nothing_probed()
            },
            &[],
        ),
        (
            "tunnels pass, and stray packets of both directions",
            tunnels(),
            &[
                "tcp extension-udp",
                "tcp vxlan-gpe",
                "udp extension-udp",
                "udp vxlan-gpe",
            ],
        ),
        (
            "stray packets do not",
            PathEvidence {
                passed: forms(&[ProbeForm::Gpe, ProbeForm::Extension]),
                ..tunnels()
            },
            &[],
        ),
        (
            "only stray packets do",
            PathEvidence {
                passed: forms(&[ProbeForm::Stray]),
                ..tunnels()
            },
            &[],
        ),
        (
            "the path is narrow in vxlan-gpe: it would hide the MSS of a SYN",
            PathEvidence {
                narrow: forms(&[ProbeForm::Gpe]),
                ..tunnels()
            },
            &["tcp extension-udp", "udp extension-udp", "udp vxlan-gpe"],
        ),
        (
            "the path is narrow in both",
            PathEvidence {
                narrow: forms(&[ProbeForm::Gpe, ProbeForm::Extension]),
                ..tunnels()
            },
            &["udp extension-udp", "udp vxlan-gpe"],
        ),
        (
            "the sink reads one of two tunnels",
            PathEvidence {
                read: encapsulations(&[ExtensionUdp]),
                ..tunnels()
            },
            &["tcp extension-udp", "udp extension-udp"],
        ),
        (
            "over-tcp-udp is for datagrams, and needs no stray packets",
            PathEvidence {
                wished: encapsulations(&[OverTcpUdp]),
                passed: forms(&[ProbeForm::OverUdp]),
                ..nothing_probed()
            },
            &["udp over-tcp-udp"],
        ),
        (
            "the sink expects another mark",
            PathEvidence {
                wished: encapsulations(&[OverTcpUdp]),
                passed: forms(&[ProbeForm::OverUdp]),
                read: encapsulations(&[VxlanGpe]),
                ..nothing_probed()
            },
            &[],
        ),
        (
            "int-md is for datagrams",
            PathEvidence {
                wished: encapsulations(&[IntMd]),
                passed: forms(&[ProbeForm::IntMd]),
                ..nothing_probed()
            },
            &["udp int-md"],
        ),
        ("ioam passes, and is the user's choice", ioam(), &["ioam"]),
        (
            "ioam does not pass: nothing else has its place",
            PathEvidence {
                passed: forms(&[ProbeForm::OverUdp]),
                ..ioam()
            },
            &[],
        ),
        (
            "ioam is for IPv6",
            PathEvidence {
                ipv6: false,
                ..ioam()
            },
            &["udp over-tcp-udp"],
        ),
        (
            "the sink does not read ioam",
            PathEvidence {
                read: encapsulations(&[OverTcpUdp]),
                ..ioam()
            },
            &["udp over-tcp-udp"],
        ),
        (
            "the user did not choose ioam",
            PathEvidence {
                wished: encapsulations(&[OverTcpUdp]),
                ..ioam()
            },
            &["udp over-tcp-udp"],
        ),
    ];
    for (sentence, evidence, expected) in cases {
        let mut names = evidence.ways().names();
        names.sort_unstable();
        assert_eq!(names, expected, "{sentence}");
    }
}

fn some<T: Copy>(random: &mut Random, of: &[T]) -> Vec<T> {
    let chosen = of.iter().filter(|_| random.chance(0.7));
    chosen.copied().collect()
}

fn any(random: &mut Random) -> PathEvidence {
    PathEvidence {
        wished: encapsulations(&some(random, &Encapsulation::ALL)),
        read: encapsulations(&some(random, &Encapsulation::ALL)),
        passed: forms(&some(random, &ProbeForm::ALL)),
        narrow: forms(&some(random, &ProbeForm::ALL)),
        options_trusted: random.chance(0.7),
        ipv6: random.chance(0.5),
    }
}

/// The encapsulations of which a way is open.
fn open(ways: Ways) -> impl Iterator<Item = Encapsulation> {
    Encapsulation::ALL
        .into_iter()
        .filter(move |one| ways.has(*one))
}

#[test]
fn a_million_random_states_open_nothing_unseen_and_each_evidence_decides_alone() {
    let (mut random, seed) = Random::from_env();
    let mut decided = [0_u32; 6];
    for number in 0..1_000_000 {
        let evidence = any(&mut random);
        let ways = evidence.ways();
        let name = || format!("seed {seed}, state {number}: {evidence:?}");
        for one in open(ways) {
            assert!(evidence.read.contains(one), "{}", name());
            let udp = ways.contains(Ways::of(Transport::Udp, one));
            let probed = evidence.passed.contains(ProbeForm::of(one));
            assert!(probed || !udp, "{}", name());
            let is_tunnel = [ExtensionUdp, VxlanGpe].contains(&one);
            let leaves = evidence.passed.contains(ProbeForm::Stray);
            assert!(!is_tunnel || probed && leaves, "{}", name());
            let tcp = ways.contains(Ways::of(Transport::Tcp, one)) && is_tunnel;
            let narrow = evidence.narrow.contains(ProbeForm::of(one));
            assert!(!(tcp && narrow), "{}", name());
        }
        let form = ProbeForm::ALL[random.below(ProbeForm::ALL.len())];
        let fewer = |changed: PathEvidence| {
            let ways = changed.ways();
            let is_less = ways.is_empty() || evidence.ways().contains(ways);
            assert!(is_less, "more opens: {}", name());
            ways
        };
        let passed = evidence.passed.without(form);
        let narrow = evidence.narrow.with(form);
        let changes = [
            fewer(PathEvidence { passed, ..evidence }),
            fewer(PathEvidence { narrow, ..evidence }),
            fewer(PathEvidence {
                options_trusted: false,
                ..evidence
            }),
            PathEvidence {
                read: encapsulations(&[]),
                ..evidence
            }
            .ways(),
            PathEvidence {
                wished: encapsulations(&[]),
                ..evidence
            }
            .ways(),
            PathEvidence {
                ipv6: !evidence.ipv6,
                ..evidence
            }
            .ways(),
        ];
        for (count, changed) in decided.iter_mut().zip(changes) {
            *count += u32::from(changed != ways);
        }
    }
    assert!(decided.iter().all(|count| *count > 1_000), "{decided:?}");
}
