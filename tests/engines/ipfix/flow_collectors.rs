//! Two common flow collectors, nfdump's nfcapd and pmacct's nfacctd, read all reports.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use hostint::engines::Engine;
use hostint::engines::ipfix::{Ipfix, MessageTransport};
use hostint::model::{FlowKey, Vlans};
use hostint_testing::collecting::Collecting;
use hostint_testing::netns::{Host, Lab, await_that};
use hostint_testing::places;
use hostint_testing::scratch::Folder;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::outages::reports;
use super::parcels::*;

const COLLECTOR: &str = "10.9.2.1:4739";

/// A collector that listens on UDP.
struct FlowCollector<'a> {
    host: &'a Host,
    child: Child,
}

impl<'a> FlowCollector<'a> {
    fn start(host: &'a Host, mut command: Command) -> Self {
        let child = command.stdin(Stdio::null()).spawn().unwrap();
        let collector = Self { host, child };
        await_that("it listens", || !collector.socket().is_empty());
        collector
    }

    fn socket(&self) -> String {
        self.host.sh("ss -Hunl sport = :4739")
    }

    /// Waits until it has read what came, and has it write that down.
    fn end(mut self) {
        await_that("it reads", || {
            let waits = self.socket();
            waits.split_whitespace().nth(1) == Some("0")
        });
        self.signal(Signal::SIGINT);
        self.child.wait().unwrap();
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }
}

impl Drop for FlowCollector<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn number_if_any(value: &Value) -> Option<u64> {
    let text = value.as_str().map(|text| text.parse().unwrap());
    text.or(value.as_u64())
}

fn number(value: &Value) -> u64 {
    number_if_any(value).unwrap_or_else(|| panic!("no number: {value}"))
}

/// What nfacctd has written, added up: reports, microseconds of delay, lost packets. A record that came twice is one, and
/// one that is written just now is none yet.
fn sums(output: &Path) -> [u64; 3] {
    let text = fs::read_to_string(output).unwrap();
    let mut by_id: BTreeMap<u64, [u64; 3]> = BTreeMap::new();
    for line in text.lines() {
        let Ok(record) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let keys = ["reports", "path_delay_sum_us", "dropped_packets"];
        let values = keys.map(|key| number_if_any(&record[key]));
        let ([Some(reports), Some(delay_us), Some(lost)], Some(id)) =
            (values, number_if_any(&record["flow_id"]))
        else {
            continue;
        };
        let values = [reports, delay_us, lost];
        let before = by_id.insert(id, values);
        assert!(before.is_none_or(|before| before == values), "{line}");
    }
    let mut sums = [0; 3];
    for values in by_id.values() {
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += value;
        }
    }
    sums
}

/// These need root.
mod root {
    use super::*;

    #[test]
    fn nfdump_shows_flows_packets_and_how_many_reports() {
        let lab = Lab::new();
        let scratch = Folder::create();
        let folder = scratch.path().to_str().unwrap();
        let mut nfcapd = lab
            .b
            .command("nfcapd", &["-w", folder, "-p", "4739", "-t", "3600"]);
        nfcapd.stdout(Stdio::null()).stderr(Stdio::null());
        let nfcapd = FlowCollector::start(&lab.b, nfcapd);

        let address: SocketAddr = COLLECTOR.parse().unwrap();
        let mut engine = Ipfix::new(settings(address, MessageTransport::Udp));
        let six = flow("2001:db8::1", "2001:db8::2");
        let tagged = FlowKey {
            vlans: Vlans { outer: 0, inner: 7 },
            sport: 7,
            ..flow4()
        };
        let flows = [flow4(), six, tagged];
        let mut entries = Vec::new();
        for n in 1..=300u64 {
            let flow = flows[n as usize % 3];
            let began_ns = TIME_NS + 1_000_000_000;
            let report = match n / 3 % 3 {
                0 => latency(flow, 20_000),
                1 => loss(flow, 1),
                _ => summary(flow, began_ns, n, 100 * n),
            };
            entries.push(entry(n, report, TIME_NS + n * 1_000_000));
        }
        let parcel = parcel(1, entries);
        lab.a.enter(|| engine.deliver(&parcel).unwrap());
        nfcapd.end();

        let shown = Command::new("nfdump")
            .args(["-R", folder, "-o", "json"])
            .output()
            .unwrap();
        let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
        let mut found: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
        for record in shown.as_array().unwrap() {
            let text = |keys: [&str; 2]| {
                let mut all = keys.iter().filter_map(|key| record[key].as_str());
                all.next().unwrap().to_owned()
            };
            let key = format!(
                "{} {} {} {} {} {} {} {}",
                text(["src4_addr", "src6_addr"]),
                record["src_port"],
                text(["dst4_addr", "dst6_addr"]),
                record["dst_port"],
                record["proto"],
                record["input_snmp"],
                record["output_snmp"],
                record.get("src_vlan").unwrap_or(&Value::from(0)),
            );
            let sums = found.entry(key).or_default();
            sums.0 += number(&record["aggr_flows"]);
            sums.1 += number(&record["in_packets"]);
            sums.2 += number(&record["in_bytes"]);
        }
        let expected = [
            ("10.0.0.1 40000 10.0.0.2 443 6 1 2 0", (100, 294, 29_400)),
            ("10.0.0.1 7 10.0.0.2 443 6 1 2 7", (100, 296, 29_600)),
            (
                "2001:db8::1 40000 2001:db8::2 443 6 1 2 0",
                (100, 295, 29_500),
            ),
        ];
        let expected = expected.map(|(key, sums)| (key.to_owned(), sums));
        assert_eq!(found, BTreeMap::from(expected));
    }

    /// With the files that are installed as an example, as they are.
    #[test]
    fn pmacct_has_delay_and_loss_of_all_reports_after_it_was_away() {
        let lab = Lab::new();
        let scratch = Folder::create();
        let output = scratch.file("json");
        let nfacctd = || {
            let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/ipfix");
            let mut command = lab.b.command("nfacctd", &["-f", "nfacctd.conf"]);
            let file = File::options().create(true).append(true).open(&output);
            command
                .current_dir(example)
                .stdout(file.unwrap())
                .stderr(Stdio::null());
            FlowCollector::start(&lab.b, command)
        };
        let first = nfacctd();
        let mut collecting = lab.a.enter(|| {
            let command = lab.a.command(places::hostint(), &[]);
            let flags = ["--ipfix", COLLECTOR, "--ipfix-transport", "udp"];
            let interval = ["--ipfix-interval", "300ms", "--queue", "1G"];
            Collecting::start_with(command, &[flags.as_slice(), &interval].concat())
        });
        lab.a.enter(|| {
            collecting.send(reports());
            collecting.await_delivery("ipfix");
        });
        // It writes every ten seconds. What it has read, but not written when it is told to end, may get lost.
        let written = |collecting: &Collecting| {
            let sent = collecting.sent.reports;
            await_that("all is written", || sums(&output)[0] >= sent);
        };
        written(&collecting);
        first.end();
        lab.a.enter(|| {
            collecting.send(reports() / 20);
            collecting.await_status("nobody is there", |status| {
                let trouble = status["engines"][0]["trouble"].as_str();
                trouble.is_some_and(|why| why.contains("Connection refused"))
            });
        });
        let second = nfacctd();
        lab.a.enter(|| {
            collecting.send(reports());
            collecting.await_delivery("ipfix");
        });
        written(&collecting);
        second.end();
        let sent = &collecting.sent;
        let [reports, delay_us, lost] = sums(&output);
        assert_eq!((reports, lost), (sent.reports, sent.lost));
        // Each sum is rounded once; records are far fewer than reports.
        let off_by = delay_us.abs_diff(sent.latency_ns as u64 / 1000);
        assert!(off_by <= sent.reports / 2, "{off_by} us off: {sent:?}");
    }
}
