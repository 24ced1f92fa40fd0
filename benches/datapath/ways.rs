//! ns that sink and source take for a packet of a known flow, on the general way and on the straight one, by runs of both
//! programs in turn. On a busy machine a low percentile of many short rounds is what repeats.

use hostint_testing::model::Encapsulation;
use hostint_testing::model::sink::Seen;
use hostint_testing::numbers::another;
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::program_info;
use hostint_testing::programs::sink::{Sink, Sizes, model_of, settings};
use hostint_testing::programs::source::{Hook, Options, Source};
use hostint_testing::source_cases::with;

use crate::programs::{self, Stats};

const ROUNDS: usize = 60;
/// Packets of a program in a round.
const PACKETS: u32 = 400;

const ENCAPSULATIONS: [(&str, Encapsulation); 3] = [
    ("vxlan-gpe", Encapsulation::VxlanGpe),
    ("over-tcp-udp", Encapsulation::OverTcpUdp),
    ("extension-udp", Encapsulation::ExtensionUdp),
];

/// The tenth part of the rounds is quicker.
fn low(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 10]
}

/// Measures both programs in turn; `run` brings them packet after packet.
fn compare(programs: [u32; 2], mut run: impl FnMut(usize, u32)) -> [f64; 2] {
    let mut figures = [Vec::new(), Vec::new()];
    for round in 0..=ROUNDS as u32 {
        for way in [0, 1] {
            let [ns] = programs::measure([programs[way]], || {
                (0..PACKETS).for_each(|packet| run(way, round * PACKETS + packet));
            });
            if round > 0 {
                figures[way].push(ns);
            }
        }
    }
    figures.map(low)
}

fn print_row(what: &str, [general, straight]: [f64; 2]) {
    println!(
        "  {what:<50} {general:>10.1} {straight:>10.1} {:>10.1}",
        straight - general
    );
}

fn sinks() -> [Sink; 2] {
    [false, true].map(|straight| {
        let sizes = Sizes {
            straight,
            ..Sizes::default()
        };
        Sink::load_sized(&settings(), sizes)
    })
}

fn at_sink(what: &str, wire: &[u8]) {
    let sinks = sinks();
    let model = model_of(&settings());
    let tagged = match model.look(wire) {
        Seen::Tagged(tagged) => Some(tagged),
        _ => None,
    };
    let frame_of = |number: u32| match &tagged {
        Some(tagged) => another(wire, tagged, number, None),
        None => wire.to_vec(),
    };
    for (hook, at_tc) in [("XDP", false), ("tcx", true)] {
        let programs = sinks.each_ref().map(|sink| {
            sink.forget_flows();
            program_info::of(if at_tc {
                sink.tc_program()
            } else {
                sink.program()
            })
            .id
        });
        let figures = compare(programs, |way, number| {
            let frame = frame_of(number);
            if at_tc {
                sinks[way].run_tc(&frame);
            } else {
                sinks[way].run(&frame);
            }
        });
        print_row(&format!("sink at {hook}, {what}"), figures);
    }
}

/// Sources of this encapsulation, which take what is known of the sink for granted.
fn sources(encapsulation: Encapsulation) -> [Source; 2] {
    [false, true].map(|straight| {
        Source::load(&Options {
            straight,
            ..with(encapsulation)
        })
    })
}

fn at_source(what: &str, sources: &[Source; 2], frame: &[u8]) {
    let programs = sources
        .each_ref()
        .map(|source| program_info::of(source.program(Hook::Tc)).id);
    let figures = compare(programs, |way, _| {
        sources[way].run(frame);
    });
    print_row(&format!("source, {what}"), figures);
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
    at_sink("a packet without INT", &udp().payload(1_300).bytes());
    for (name, encapsulation) in ENCAPSULATIONS {
        let sources = sources(encapsulation);
        for (packet, frame) in [
            ("UDP", udp()),
            ("TCP", tcp()),
            ("UDP over IPv6", udp6()),
            ("TCP over IPv6", tcp6()),
        ] {
            let frame = frame.payload(1_300).bytes();
            let what = format!("{name}, {packet}");
            at_sink(&what, &sources[1].run(&frame).bytes);
            at_source(&what, &sources, &frame);
        }
    }
    let unwatching =
        [(), ()].map(|()| Source::load_watching_nothing(&with(Encapsulation::VxlanGpe)));
    at_source(
        "an unwatched packet",
        &unwatching,
        &udp().payload(1_300).bytes(),
    );
    println!();
}
