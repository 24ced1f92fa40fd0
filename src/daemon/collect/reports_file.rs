//! Reads a file of reports, a capture or lines of JSON, as `hostint collect --read` does.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result, anyhow};

use super::engines;
use super::judging::Judging;
use super::output::{Output, written};
use super::plan::CollectPlan;
use super::publish::hosts_of;
use super::report_lines::{LineForm, ReportLines};
use super::takers::{self, Hub};
use super::{report_file_lines, store, summary};
use crate::cli::CollectArgs;
use crate::collector::capture::Capture;
use crate::collector::captured_options::{CapturedCounts, CapturedOptions, MAX_CAPTURED};
use crate::collector::datagram::{self, NoDatagram};
use crate::collector::stamps::StampJudge;
use crate::daemon::privileges::give_up_all_but;
use crate::engines::{Engine, Patience};
use crate::model::{Arrival, REPORT_PORT};
use crate::os::clock;
use crate::store::Store;
use crate::wire::probe;

/// The packets of a capture, counted by kind.
#[derive(Default)]
struct Packets {
    seen: u64,
    datagrams: u64,
    probes: u64,
    other: u64,
    fragments: u64,
    cut: u64,
    with_option: u64,
    bad_options: u64,
    beyond: u64,
    unknown_link: u64,
    wrong_checksum: u64,
    wrong_time: u64,
}

/// Hands all reports of the file to lines, history and engines.
pub fn run(
    file: &Path,
    args: &CollectArgs,
    plan: CollectPlan,
    engines: Vec<Box<dyn Engine>>,
) -> Result<()> {
    let config = &plan.config;
    let opened = store::open(&config.store, true)?;
    let output = Output::open(config.output.as_ref())?;
    let source = ReportsFile::open(file)?;
    // From here on bytes of strangers are read, and nothing else is done.
    give_up_all_but(&[])?;
    let store = store::start(opened)?;
    let mut engines = engines::start(engines, &config.engines, Patience::Wait)?;
    let lines = ReportLines::new(output, LineForm::of(config), &args.lines);
    let mut hub = takers::hub(&plan, lines, store.as_ref(), &mut engines);
    // What nodes tell of themselves is in no such file.
    let names = &config.names;
    let names = names.iter().map(|(node, name)| (*node, name.clone()));
    hub.taker.set_names(names.collect());
    let mut judging = Judging::new(store.as_ref().map(Store::keeper), None);
    let result = source.read(args, &mut hub, &mut judging);
    let flushed = hub.finish();
    keep_hosts(&mut hub);
    // The history and engines are finished once nothing can hand them reports.
    drop((hub, judging));
    let delivered = engines::finish(engines, true);
    store::finish(store)?;
    delivered?;
    written(flushed)?;
    result
}

/// Hands the names of hosts, and when each reported last, to the history.
fn keep_hosts(hub: &mut Hub) {
    let exporters = hub
        .ledgers
        .exporters
        .health(usize::MAX, clock::realtime_ns());
    if let Some(history) = &hub.taker.history {
        history.see_hosts(hosts_of(exporters));
    }
}

/// A file, or standard input, which may be a live stream.
struct ReportsFile {
    name: String,
    reader: BufReader<Box<dyn Read>>,
    is_live: bool,
}

impl ReportsFile {
    fn open(file: &Path) -> Result<Self> {
        let is_live = file == Path::new("-");
        let (name, reader): (_, Box<dyn Read>) = if is_live {
            ("standard input".to_owned(), Box::new(io::stdin().lock()))
        } else {
            let name = file.display().to_string();
            let opened = File::open(file).with_context(|| format!("cannot open {name}"))?;
            (name, Box::new(opened))
        };
        Ok(Self {
            name,
            reader: BufReader::new(reader),
            is_live,
        })
    }

    fn read(mut self, args: &CollectArgs, hub: &mut Hub, judging: &mut Judging) -> Result<()> {
        let name = &self.name;
        let first = self
            .reader
            .fill_buf()
            .with_context(|| format!("cannot read {name}"))?;
        let is_json = first.first() == Some(&b'{');
        if is_json {
            report_file_lines::read(self.reader, name, args, self.is_live, hub)
        } else {
            read_capture(self.reader, name, (args, self.is_live), hub, judging)
        }
    }
}

fn read_capture(
    reader: impl Read,
    name: &str,
    (args, live): (&CollectArgs, bool),
    hub: &mut Hub,
    judging: &mut Judging,
) -> Result<()> {
    let ports = ports_in(args);
    let mut capture = Capture::new(reader);
    let mut packets = Packets::default();
    let mut options = CapturedOptions::default();
    let mut judge = StampJudge::new(live, clock::realtime_ns);
    let end = loop {
        if args.count == Some(packets.datagrams) {
            break Ok(());
        }
        let captured = match capture.next_packet() {
            Ok(Some(captured)) => captured,
            Ok(None) => break Ok(()),
            Err(err) => break Err(anyhow!("cannot read {name} to its end: {err}")),
        };
        packets.seen += 1;
        let found = match datagram::find(&captured, ports) {
            Ok(found) => found,
            Err(NoDatagram::Other) if options.see(&captured) => continue,
            Err(why) => {
                packets.count(why);
                continue;
            }
        };
        if probe::decode(found.payload).is_ok() {
            packets.probes += 1;
            continue;
        }
        packets.datagrams += 1;
        packets.wrong_checksum += u64::from(found.wrong_checksum);
        judge.push(captured.time_ns, (found.from, found.payload.to_vec()));
        let mut result = take_datagrams(&mut judge, hub, judging);
        if live {
            result = result.and_then(|()| hub.flush());
        }
        if !written(result)? {
            break Ok(());
        }
    };
    judge.end();
    written(take_datagrams(&mut judge, hub, judging))?;
    packets.wrong_time = judge.wrong();
    packets.count_options(options.counts());
    written(hub.taker.lines.write_captured(&options.take()))?;
    summary::say_exporters(&hub.ledgers.exporters);
    let sums = summary::sums(&hub.ledgers.exporters);
    eprintln!("hostint: {name}: {packets}, {sums}");
    if packets.report_nothing() && end.is_ok() {
        eprintln!("hostint: {}", packets.why_nothing(ports));
    }
    end
}

/// Hands on the datagrams whose times were judged.
fn take_datagrams(
    judge: &mut StampJudge<(SocketAddr, Vec<u8>)>,
    hub: &mut Hub,
    judging: &mut Judging,
) -> io::Result<()> {
    while let Some(judged) = judge.next_judged() {
        let (exporter, payload) = &judged.item;
        let arrival = Arrival {
            exporter: *exporter,
            received_ns: judged.time_ns,
        };
        judging.judge_due(hub, arrival.received_ns);
        hub.datagram(payload, arrival)?;
    }
    Ok(())
}

fn ports_in(args: &CollectArgs) -> &[u16] {
    match args.port.as_slice() {
        [] => &[REPORT_PORT],
        ports => ports,
    }
}

fn joined(ports: &[u16]) -> String {
    let ports: Vec<_> = ports.iter().map(u16::to_string).collect();
    ports.join(" or ")
}

impl Packets {
    fn count(&mut self, why: NoDatagram) {
        *match why {
            NoDatagram::Other | NoDatagram::Unknown => &mut self.other,
            NoDatagram::Fragment => &mut self.fragments,
            NoDatagram::Cut => &mut self.cut,
            NoDatagram::Link => &mut self.unknown_link,
        } += 1;
    }

    /// There are packets, but no reports and nothing of option 114.
    fn report_nothing(&self) -> bool {
        self.seen > 0 && self.datagrams == 0 && self.with_option == 0
    }

    /// Says why there are no reports.
    fn why_nothing(&self, ports: &[u16]) -> String {
        let ports = joined(ports);
        match (self.fragments, self.cut, self.unknown_link) {
            (0, 0, 0) => format!("no packet goes to UDP port {ports} (try --port)"),
            (0, 0, _) => {
                "no packet can be read: capture Ethernet, IP or Linux's cooked packets".to_owned()
            }
            (0, _, _) => format!(
                "no packet to UDP port {ports} is whole: the capture cut them (try tcpdump --snapshot-length 0)"
            ),
            _ => format!(
                "no packet to UDP port {ports} is whole: there are fragments only, which are not put together (capture \
                 where they are whole, or let reports be shorter than the MTU)"
            ),
        }
    }

    fn count_options(&mut self, counts: CapturedCounts) {
        self.with_option = counts.segments;
        self.bad_options = counts.malformed;
        self.beyond = counts.beyond;
    }
}

impl std::fmt::Display for Packets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} packets, {} datagrams", self.seen, self.datagrams)?;
        for (count, what) in [
            (self.wrong_checksum, "with a wrong checksum"),
            (self.wrong_time, summary::WRONG_TIME),
            (self.probes, "probes"),
            (self.with_option, "with TCP option 114"),
            (self.bad_options, "with damaged TCP options"),
            (self.other, "other"),
            (self.fragments, "fragments of UDP"),
            (self.cut, "cut by the capture"),
            (self.unknown_link, "of an unknown link type"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        match self.beyond {
            0 => Ok(()),
            beyond => write!(
                f,
                ", {beyond} times option 114 of more than {MAX_CAPTURED} connections"
            ),
        }
    }
}
