//! ns that source, hop and sink take for a packet of a known flow, on the general way and on the straight one, by runs of both
//! programs in turn. On a busy machine a low percentile of many short rounds is what repeats.

use std::net::Ipv6Addr;

use hostint::model::MOST_SHIFT;
use hostint_testing::frame::Frame;
use hostint_testing::model::Encapsulation::{self, ExtensionUdp, IntMd, OverTcpUdp, VxlanGpe};
use hostint_testing::model::sink::Seen;
use hostint_testing::numbers::another;
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::program_info;
use hostint_testing::programs::sink::{Sink, Sizes, model_of, settings};
use hostint_testing::programs::source::{Hook, Options, Source};
use hostint_testing::programs::transit::{self, Hop};
use hostint_testing::source_cases::with;
use hostint_testing::transit_cases::{STACK, asking_source, lease, tagged};
use libbpf_rs::ProgramMut;

use crate::programs::{self, Stats};

const ROUNDS: usize = 60;
/// Packets of a program in a round.
const PACKETS: usize = 400;
const PAYLOAD: usize = 1_300;
/// As sources sample in INT-MX unless the user says another number: one packet of 64.
const MX_SAMPLE: u8 = 6;
/// Routers for whose entries packets in ioam have room.
const ROUTERS: u32 = 4;

/// The ways to be compared.
const WAYS: [bool; 2] = [false, true];

/// How sources tag, which take what is known of the sink for granted where they can.
fn sources() -> [(&'static str, Options); 6] {
    [
        ("vxlan-gpe", with(VxlanGpe)),
        ("over-tcp-udp", with(OverTcpUdp)),
        ("extension-udp", with(ExtensionUdp)),
        ("int-md", with(IntMd)),
        (
            "int-md, mode mx",
            Options {
                mx_sample: Some(MX_SAMPLE),
                ..with(IntMd)
            },
        ),
        (
            "ioam",
            Options {
                ioam: true,
                max_hops: ROUTERS,
                ..with(VxlanGpe)
            },
        ),
    ]
}

fn packets() -> [(&'static str, Frame); 4] {
    [
        ("UDP", udp()),
        ("TCP", tcp()),
        ("UDP over IPv6", udp6()),
        ("TCP over IPv6", tcp6()),
    ]
    .map(|(name, frame)| (name, frame.payload(PAYLOAD)))
}

/// The tenth part of the rounds is quicker.
fn low(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 10]
}

fn id(program: &ProgramMut<'_>) -> u32 {
    program_info::of(program).id
}

/// Measures these programs of both ways in turn; `run` brings them packet after packet of the same batch.
fn compare<const N: usize>(
    programs: [[u32; N]; 2],
    mut batch: impl FnMut() -> Vec<Vec<u8>>,
    run: impl Fn(usize, &[u8]),
) -> [[f64; 2]; N] {
    let mut figures = [[(); 2]; N].map(|ways| ways.map(|()| Vec::new()));
    for round in 0..=ROUNDS {
        let frames = batch();
        for way in [0, 1] {
            let took = programs::measure(programs[way], || {
                frames.iter().for_each(|frame| run(way, frame));
            });
            for (figures, ns) in figures.iter_mut().zip(took) {
                if round > 0 {
                    figures[way].push(ns);
                }
            }
        }
    }
    figures.map(|ways| ways.map(low))
}

fn same(frame: &Frame) -> Vec<Vec<u8>> {
    vec![frame.bytes(); PACKETS]
}

fn print_row(what: &str, [general, straight]: [f64; 2]) {
    println!(
        "  {what:<50} {general:>10.1} {straight:>10.1} {:>10.1}",
        straight - general
    );
}

fn at_sink(what: &str, sinks: &[Sink; 2], mut batch: impl FnMut() -> Vec<Vec<u8>>) {
    sinks.iter().for_each(Sink::forget_flows);
    let programs = sinks.each_ref().map(|sink| [id(sink.program())]);
    let [at_xdp] = compare(programs, &mut batch, |way, frame| {
        drop(sinks[way].run(frame))
    });
    print_row(&format!("sink at XDP, {what}"), at_xdp);
    sinks.iter().for_each(Sink::forget_flows);
    let programs = sinks.each_ref().map(|sink| [id(sink.tc_program())]);
    let [at_tc] = compare(programs, batch, |way, frame| {
        drop(sinks[way].run_tc(frame));
    });
    print_row(&format!("sink at tcx, {what}"), at_tc);
}

fn at_source(what: &str, sources: &[Source; 2], frame: &Frame) {
    let programs = sources
        .each_ref()
        .map(|source| [id(source.program(Hook::Tc))]);
    let [took] = compare(
        programs,
        || same(frame),
        |way, frame| {
            drop(sources[way].run(frame));
        },
    );
    print_row(&format!("source, {what}"), took);
}

fn at_hop(what: &str, hops: &[Hop; 2], batch: impl FnMut() -> Vec<Vec<u8>>) {
    let programs = hops
        .each_ref()
        .map(|hop| [hop.program_in(), hop.program_out()].map(id));
    let [arrives, leaves] = compare(programs, batch, |way, frame| {
        hops[way].arrive(frame);
        hops[way].leave(frame);
    });
    print_row(&format!("hop at ingress, {what}"), arrives);
    print_row(&format!("hop at egress, {what}"), leaves);
}

/// A source of each way. No packet goes in ioam without the lease of a sink.
fn load_sources(options: &Options, frame: &Frame) -> [Source; 2] {
    WAYS.map(|straight| {
        let options = Options {
            straight,
            ..*options
        };
        if !options.ioam {
            return Source::load(&options);
        }
        let mut source = Source::load_watching_nothing(&options);
        source.watch_leased(Ipv6Addr::UNSPECIFIED, 0);
        lease(&source, &frame.bytes(), STACK);
        source
    })
}

fn at_both_ends(name: &str, options: &Options, sinks: &[Sink; 2]) {
    for (packet, frame) in packets() {
        if options.ioam && packet != "UDP over IPv6" {
            continue;
        }
        let what = format!("{name}, {packet}");
        let sources = load_sources(options, &frame);
        at_source(&what, &sources, &frame);
        let bytes = frame.bytes();
        at_sink(&what, sinks, || {
            let wires = (0..PACKETS).map(|_| sources[1].run(&bytes).bytes);
            wires
                .inspect(|wire| assert_ne!(wire, &bytes, "{what}: tagged"))
                .collect()
        });
    }
}

/// The packet with a number that is this much greater: each arrival is remembered elsewhere.
fn numbered(wire: &[u8], further: u32) -> Vec<u8> {
    let Seen::Tagged(tagged) = model_of(&settings()).look(wire) else {
        panic!("the packet is tagged");
    };
    another(wire, &tagged, further, None)
}

fn at_hops(name: &str, encapsulation: Encapsulation) {
    let hops = WAYS.map(|straight| {
        let hop = Hop::load(&transit::Options {
            straight,
            ..transit::Options::default()
        });
        hop.set_node(9);
        hop
    });
    if encapsulation == VxlanGpe {
        at_hop("a packet without INT", &hops, || {
            same(&udp().payload(PAYLOAD))
        });
    }
    for (packet, frame) in packets() {
        let source = asking_source(encapsulation, 1);
        let wire = tagged(&source, &frame.segment(9, 2), STACK);
        let mut number = 0;
        at_hop(&format!("{name}, {packet}"), &hops, || {
            let numbers = (0..PACKETS).map(|_| {
                number += 1;
                numbered(&wire, number)
            });
            numbers.collect()
        });
    }
}

pub fn run() {
    let _stats = Stats::enable();
    println!(
        "ways: ns for a packet of a known flow by BPF_PROG_RUN, 10th percentile of {ROUNDS} rounds in turn; the rows of \
         packets without INT are to be subtracted"
    );
    println!(
        "  {:<50} {:>10} {:>10} {:>10}",
        "", "general", "straight", ""
    );
    // Their clocks began first, so that packets took a time.
    let sinks = WAYS.map(|straight| {
        let sizes = Sizes {
            straight,
            tc: true,
            ..Sizes::default()
        };
        Sink::load_sized(&settings(), sizes)
    });
    let plain = udp().payload(PAYLOAD);
    at_sink("a packet without INT", &sinks, || same(&plain));
    let unwatching = [(), ()].map(|()| Source::load_watching_nothing(&with(VxlanGpe)));
    at_source("an unwatched packet", &unwatching, &plain);
    for (what, frame) in [("UDP", udp()), ("TCP over IPv6", tcp6())] {
        let leaving = WAYS.map(|straight| {
            let source = Source::load(&Options {
                options: true,
                straight,
                ..Options::default()
            });
            source.set_share(MOST_SHIFT);
            source
        });
        let what = format!("{what} that the budget leaves out");
        at_source(&what, &leaving, &frame.payload(PAYLOAD));
    }
    for (name, options) in sources() {
        at_both_ends(name, &options, &sinks);
    }
    for (name, encapsulation) in [
        ("vxlan-gpe", VxlanGpe),
        ("over-tcp-udp", OverTcpUdp),
        ("extension-udp", ExtensionUdp),
    ] {
        at_hops(name, encapsulation);
    }
    println!();
}
