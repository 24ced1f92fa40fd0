//! ns that sink and source take for a packet of one of many flows, each of which comes rarely, by runs of the program on one packet
//! after the other.

use hostint_testing::model::Encapsulation;
use hostint_testing::packets::udp;
use hostint_testing::program_info;
use hostint_testing::programs::sink::{Sink, Sizes, settings};
use hostint_testing::programs::source::{Hook, Options, Source};
use hostint_testing::source_cases::with;
use hostint_testing::stream::{SEQUENCE_AT, packet};

use crate::programs::{self, Stats};

/// How many flows take turns; the first is what others are compared with.
const COUNTS: [u32; 4] = [1 << 10, 1 << 13, 1 << 17, 1 << 20];
/// Packets that are measured of each number of flows, at least one of each flow.
const PACKETS: u32 = 1 << 18;
/// Room in the tables.
const FLOWS: u32 = 1_200_000;
/// Places of the destination's last two bytes and of the source port in a frame over IPv4.
const DEST_AT: usize = 32;
const PORT_AT: usize = 34;

/// Makes the frame one of this flow.
fn set_flow(frame: &mut [u8], flow: u32) {
    frame[DEST_AT..DEST_AT + 2].copy_from_slice(&((flow >> 16) as u16).to_be_bytes());
    frame[PORT_AT..PORT_AT + 2].copy_from_slice(&(flow as u16).to_be_bytes());
}

/// All flows once, in an order that no cache foresees.
fn in_turn(flows: u32) -> impl Iterator<Item = u32> {
    (0..flows).map(move |turn| turn.wrapping_mul(0x9e37_79b1) & (flows - 1))
}

/// Mean ns of a run, after each flow had two packets. `run` gets the flow and the number of its packet.
fn mean(program: u32, flows: u32, mut run: impl FnMut(u32, u32)) -> f64 {
    for number in [1, 2] {
        in_turn(flows).for_each(|flow| run(flow, number));
    }
    let rounds = (PACKETS / flows).max(1);
    let [ns] = programs::measure([program], || {
        for number in 3..3 + rounds {
            in_turn(flows).for_each(|flow| run(flow, number));
        }
    });
    ns
}

fn at_sink(sink: &Sink, tagged: bool, flows: u32) -> f64 {
    sink.forget_flows();
    let mut frame = match tagged {
        true => packet(),
        false => udp().bytes(),
    };
    mean(
        program_info::of(sink.program()).id,
        flows,
        |flow, number| {
            set_flow(&mut frame, flow);
            if tagged {
                frame[SEQUENCE_AT..SEQUENCE_AT + 4].copy_from_slice(&number.to_be_bytes());
            }
            sink.run(&frame);
        },
    )
}

fn at_source(source: &Source, flows: u32) -> f64 {
    let mut frame = udp().bytes();
    let program = program_info::of(source.program(Hook::Tc)).id;
    mean(program, flows, |flow, _| {
        set_flow(&mut frame, flow);
        source.run(&frame);
    })
}

pub fn run() {
    let _stats = Stats::enable();
    let sink = Sink::load_sized(
        &settings(),
        Sizes {
            flows: FLOWS,
            ..Sizes::default()
        },
    );
    let options = Options {
        flows: FLOWS,
        ..with(Encapsulation::VxlanGpe)
    };
    let source = Source::load(&options);
    let unwatching = Source::load_watching_nothing(&with(Encapsulation::VxlanGpe));
    println!(
        "flows: ns for a packet of one of many flows by BPF_PROG_RUN, less those of a packet that is left alone; targets at \
         1,048,576: sink 400, source 350, and 3 times those of 1,024"
    );
    println!("  {:<12} {:>12} {:>12}", "flows", "sink at XDP", "source");
    let [sink_base, source_base] = [
        at_sink(&sink, false, COUNTS[0]),
        at_source(&unwatching, COUNTS[0]),
    ];
    for flows in COUNTS {
        let at_sink = at_sink(&sink, true, flows) - sink_base;
        let at_source = at_source(&source, flows) - source_base;
        println!("  {flows:<12} {at_sink:>12.1} {at_source:>12.1}");
    }
    println!();
}
