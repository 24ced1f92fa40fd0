//! ns that the programs take for a packet of real traffic, less what a program that does nothing takes.

use std::time::Duration;

use hostint::datapath::kernel::links::Hook;

use crate::lab::{Pair, Setup, SinkAt};
use crate::programs::{self, AttachedNoop, Noop, Stats};
use crate::rounds::Rounds;
use crate::senders::{Datagrams, bulk_tcp_to};

/// IP packets of this length, without INT. In ioam they have room for the entries of four routers.
const PACKET: u32 = 1340;
const TIME: Duration = Duration::from_millis(150);

/// How sinks know int-md, which has no mark of its own. All of them have it, so that they look for the same.
const INT_MD_MARK: &str = "--int-dscp 0x17";

/// What a packet meets: a source with these flags, and a sink at a hook.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    sink: SinkAt,
    source: Option<&'static str>,
    /// How b is watched.
    watch: Watch,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Watch {
    Not,
    /// What the source is told of b holds.
    Static,
    /// Over IPv6, as no packet goes in ioam without; and in options none goes to a static destination.
    Leased,
}

const fn row(name: &'static str, source: Option<&'static str>, watch: Watch) -> Row {
    Row {
        name,
        sink: SinkAt::Xdp,
        source,
        watch,
    }
}

/// At XDP. All but the last ones, [`XDP_ALONE`], are measured at tcx, too.
const AT_XDP: [Row; 10] = [
    row("no-op", None, Watch::Not),
    row("unwatched", Some("--superpackets skip"), Watch::Not),
    row(
        "over-tcp-udp",
        Some("--encap over-tcp-udp --superpackets skip"),
        Watch::Static,
    ),
    row(
        "extension-udp",
        Some("--encap extension-udp --superpackets skip"),
        Watch::Static,
    ),
    row(
        "vxlan-gpe",
        Some("--encap vxlan-gpe --superpackets skip"),
        Watch::Static,
    ),
    row(
        "int-md",
        Some("--encap int-md --int-dscp 0x17 --superpackets skip"),
        Watch::Static,
    ),
    row(
        "ioam, over IPv6",
        Some("--encap ioam --superpackets skip"),
        Watch::Leased,
    ),
    row(
        "vxlan-gpe, leased, over IPv6",
        Some("--encap vxlan-gpe --superpackets skip"),
        Watch::Leased,
    ),
    row(
        "options, leased, over IPv6",
        Some("--encap options"),
        Watch::Leased,
    ),
    row(
        "over-tcp-udp, full checksum",
        Some("--compat host-int --superpackets skip"),
        Watch::Static,
    ),
];
const XDP_ALONE: usize = 1;

fn rows() -> Vec<Row> {
    let at_tc = AT_XDP.iter().take(AT_XDP.len() - XDP_ALONE);
    let at_tc = at_tc.map(|row| Row {
        sink: SinkAt::Tc,
        ..*row
    });
    AT_XDP.iter().copied().chain(at_tc).collect()
}

struct Case {
    source: u32,
    sink: u32,
    datagrams: Datagrams,
    is_tagged: bool,
    /// Where b takes TCP.
    tcp_at: &'static str,
    _noops: Vec<AttachedNoop>,
    pair: Pair,
}

fn set_up(noop: &Noop, row: &Row) -> Case {
    let Row {
        sink,
        source,
        watch,
        ..
    } = *row;
    let setup = Setup {
        sink: if source.is_some() {
            sink
        } else {
            SinkAt::Nowhere
        },
        source,
        watched: watch != Watch::Not,
        leased_ipv6: watch == Watch::Leased,
        sink_flags: INT_MD_MARK,
        mtu: PACKET,
        no_gso: true,
        ..Setup::NOTHING
    };
    let pair = Pair::new(&setup);
    let (a, b) = (&pair.lab.a, &pair.lab.b);
    let (datagrams, tcp_at) = match watch {
        Watch::Leased => (
            Datagrams::between(
                (a, "[fd09:1::1]:40000"),
                (b, "[fd09:2::1]:5000"),
                PACKET as usize - 48,
            ),
            "[fd09:2::1]:5001",
        ),
        Watch::Not | Watch::Static => (Datagrams::new(a, b, PACKET as usize - 28), "10.9.2.1:5001"),
    };
    let mut noops = Vec::new();
    let (source, sink) = if source.is_some() {
        (
            programs::pinned(a, "source-tc", "a0"),
            programs::pinned(b, sink.role(), "b0"),
        )
    } else {
        let hook = match sink {
            SinkAt::Xdp => Hook::XdpNative,
            _ => Hook::TcxIngress,
        };
        // On a as well: the interfaces behave alike.
        noops.push(noop.attach(a, "a0", hook));
        noops.push(noop.attach(a, "a0", Hook::TcxEgress));
        noops.push(noop.attach(b, "b0", hook));
        (noops[1].id, noops[2].id)
    };
    Case {
        source,
        sink,
        datagrams,
        is_tagged: watch != Watch::Not,
        tcp_at,
        _noops: noops,
        pair,
    }
}

impl Case {
    /// Packets from which the sink took INT; none if nothing is watched.
    fn stripped(&self) -> Option<u64> {
        self.is_tagged
            .then(|| self.pair.lab.b.count("sink", "received"))
    }
}

/// Source and sink of each case, in turn.
fn measure(cases: &[Case], traffic: impl Fn(&Case)) -> Measured {
    let mut sink = 0.0;
    let before: Vec<Option<u64>> = cases.iter().map(Case::stripped).collect();
    let rounds = Rounds::measure(cases.len() * 2, |index| {
        let case = &cases[index / 2];
        if index % 2 == 0 {
            let figures = programs::measure([case.source, case.sink], || traffic(case));
            sink = figures[1];
            return figures[0];
        }
        sink
    });
    let stripped = cases.iter().map(Case::stripped).zip(before);
    Measured {
        rounds,
        as_named: stripped
            .map(|(now, before)| now.is_none() || now > before)
            .collect(),
    }
}

struct Measured {
    rounds: Rounds,
    /// Of each case, whether packets were tagged where they were to be.
    as_named: Vec<bool>,
}

pub fn run() {
    let _stats = Stats::enable();
    let noop = Noop::load();
    let cases: Vec<Case> = rows().iter().map(|row| set_up(&noop, row)).collect();
    println!("cost: ns for each packet of {PACKET} bytes above a program that does nothing");
    println!(
        "  {:<6} {:<30} {:>14} {:>14} {:>14}",
        "", "", "source", "sink at XDP", "sink at TC"
    );
    let udp = measure(&cases, |case| {
        case.datagrams.rate(TIME);
    });
    print_table("UDP", &udp);
    let tcp = measure(&cases, |case| {
        let lab = &case.pair.lab;
        bulk_tcp_to(&lab.a, (&lab.b, case.tcp_at), TIME);
    });
    print_table("TCP", &tcp);
    println!();
}

fn print_table(protocol: &str, measured: &Measured) {
    let (rounds, tc) = (&measured.rounds, AT_XDP.len());
    println!(
        "  {protocol:<6} {:<30} {:>14.0} {:>14.0} {:>14.0}",
        "no-op (not subtracted)",
        rounds.median(0),
        rounds.median(1),
        rounds.median(2 * tc + 1)
    );
    // Of this case, less that of the no-op.
    let figure = |case: usize, figure: usize, noop: usize| match measured.as_named[case] {
        true => format!("{:.0}", rounds.difference(figure, noop)),
        false => "not tagged".to_owned(),
    };
    for (case, row) in AT_XDP.iter().enumerate().skip(1) {
        let at_tc =
            (case + XDP_ALONE < tc).then(|| figure(tc + case, 2 * (tc + case) + 1, 2 * tc + 1));
        println!(
            "  {protocol:<6} {:<30} {:>14} {:>14} {:>14}",
            row.name,
            figure(case, 2 * case, 0),
            figure(case, 2 * case + 1, 1),
            at_tc.unwrap_or_default()
        );
    }
}
