//! A real sink spreads its reports over several collectors, and follows those that fail, return or are renamed.

use std::collections::{BTreeMap, BTreeSet};
use std::net::UdpSocket;

use hostint::os::clock;
use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or};
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::name_server::NameServer;

const FLOWS: u16 = 60;

/// Collectors on loopback addresses that end with their numbers.
struct Collectors(BTreeMap<u8, Daemon>);

impl Collectors {
    fn start(host: &Host, numbers: &[u8]) -> Self {
        let mut all = Self(BTreeMap::new());
        for number in numbers {
            all.start_one(host, *number);
        }
        all
    }

    fn start_one(&mut self, host: &Host, number: u8) {
        let line = format!("collect --json --listen 127.0.0.{number}");
        self.0.insert(number, host.start(&line, "collecting"));
    }

    fn kill(&mut self, number: u8) {
        self.0.remove(&number).unwrap().kill();
    }

    fn lines(&self, number: u8) -> Vec<Value> {
        let text = self.0[&number].stdout();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = whole.lines().map(serde_json::from_str);
        lines.map(Result::unwrap).collect()
    }

    /// The flows that each reports of now, once all of them are reported of again. What was on its way meanwhile came in
    /// before the second look; collectors hand on what they received a little later.
    fn flows(&self, traffic: &Traffic) -> BTreeMap<u8, BTreeSet<u16>> {
        self.look(traffic);
        self.look(traffic)
    }

    fn look(&self, traffic: &Traffic) -> BTreeMap<u8, BTreeSet<u16>> {
        let since_ns = clock::realtime_ns();
        let now = || {
            let flows = self.0.keys().map(|number| {
                let lines = self.lines(*number).into_iter();
                let new = lines.filter(|line| line["received_ns"].as_u64() >= Some(since_ns));
                // Those of classes tell of no flow.
                let ports = new.filter_map(|line| line["flow"]["sport"].as_u64());
                let flows = ports.map(|port| u16::try_from(port).unwrap());
                (*number, flows.collect::<BTreeSet<_>>())
            });
            flows.collect::<BTreeMap<_, _>>()
        };
        await_that_or(
            || {
                traffic.send();
                now().values().flatten().collect::<BTreeSet<_>>().len() == usize::from(FLOWS)
            },
            || format!("not all flows are reported: {:?}", now()),
        );
        now()
    }
}

/// Flows that are tagged at A and stripped at B.
struct Traffic {
    from: Vec<UdpSocket>,
    _to: UdpSocket,
    _source: Daemon,
}

impl Traffic {
    fn new(lab: &Lab) -> Self {
        let source = lab.a.sink("--dev a0 --node-id 1");
        lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
        lab.a.hostint("source add-dest --static 10.9.2.1");
        let from = (0..FLOWS).map(|n| lab.a.udp(&format!("10.9.1.1:{}", 5000 + n)));
        Self {
            from: from.collect(),
            _to: lab.b.udp("10.9.2.1:6000"),
            _source: source,
        }
    }

    fn send(&self) {
        for from in &self.from {
            from.send_to(&[7; 400], "10.9.2.1:6000").unwrap();
        }
    }
}

/// The state of each collector, by its number.
fn states(host: &Host) -> BTreeMap<u8, String> {
    let status = host.status();
    let collectors = status["sink"]["collectors"].as_array().unwrap();
    let states = collectors.iter().map(|one| {
        let address = one["address"].as_str().unwrap();
        let number = address.strip_prefix("127.0.0.").unwrap();
        let number = number.strip_suffix(":32766").unwrap();
        let state = one["state"].as_str().unwrap();
        (number.parse().unwrap(), state.to_owned())
    });
    states.collect()
}

fn await_states(host: &Host, expected: &[(u8, &str)]) {
    let expected = expected.iter().map(|(n, state)| (*n, (*state).to_owned()));
    let expected: BTreeMap<_, _> = expected.collect();
    await_that_or(
        || states(host) == expected,
        || format!("{:?} never became {expected:?}", states(host)),
    );
}

fn is_split(flows: &BTreeMap<u8, BTreeSet<u16>>) {
    let count: usize = flows.values().map(BTreeSet::len).sum();
    assert_eq!(
        count,
        usize::from(FLOWS),
        "each flow at one collector: {flows:?}"
    );
    assert!(flows.values().all(|some| !some.is_empty()), "{flows:?}");
}

#[test]
fn a_name_is_all_its_addresses_and_a_collector_that_comes_or_goes_moves_its_share() {
    let lab = Lab::new();
    let names = NameServer::start(&lab.b, &[[127, 0, 0, 1], [127, 0, 0, 2]]);
    let mut collectors = Collectors::start(&lab.b, &[1, 2, 3]);
    let b = lab.b.sink(
        "--dev b0 --node-id 2 --collector collectors.example.org. --spread --report-period 20ms \
         --allow 10.9.1.0/24",
    );
    let traffic = Traffic::new(&lab);
    await_states(&lab.b, &[(1, "answers"), (2, "answers")]);
    let mut two = collectors.flows(&traffic);
    assert!(two.remove(&3).unwrap().is_empty(), "not named yet");
    is_split(&two);

    names.set(&[[127, 0, 0, 1], [127, 0, 0, 2], [127, 0, 0, 3]]);
    await_states(&lab.b, &[(1, "answers"), (2, "answers"), (3, "answers")]);
    let three = collectors.flows(&traffic);
    is_split(&three);
    for (number, before) in &two {
        assert!(three[number].is_subset(before), "only to the new one");
    }

    collectors.kill(3);
    await_states(&lab.b, &[(1, "answers"), (2, "answers"), (3, "silent")]);
    assert_eq!(collectors.flows(&traffic), two, "back where they were");
    let said = b.stderr();
    assert!(
        said.contains("collector 127.0.0.3:32766 is silent: others get its reports"),
        "{said}"
    );
    let text = lab.b.hostint("status");
    assert!(text.contains("127.0.0.3:32766  SILENT since "), "{text}");

    collectors.start_one(&lab.b, 3);
    await_states(&lab.b, &[(1, "answers"), (2, "answers"), (3, "answers")]);
    assert_eq!(collectors.flows(&traffic), three, "its own come back");
    assert!(b.stderr().contains("127.0.0.3:32766 answers again"));

    names.set(&[[127, 0, 0, 2]]);
    await_states(&lab.b, &[(2, "answers")]);
    let one = collectors.flows(&traffic);
    assert_eq!(one[&2].len(), usize::from(FLOWS));
    assert!(one[&1].is_empty() && one[&3].is_empty());
}

#[test]
fn a_reload_with_another_list_leaves_those_that_stay_alone() {
    let lab = Lab::new();
    let collectors = Collectors::start(&lab.b, &[1, 2, 3]);
    let config = std::env::temp_dir().join(format!("{}.toml", lab.b.ns));
    let write = |list: &str, spread: bool| {
        let text = format!(
            "[sink]\ndev = \"b0\"\nnode-id = 2\ncollector = {list}\nspread = {spread}\n\
             report-period = \"20ms\"\nallow = \"10.9.1.0/24\"\n"
        );
        std::fs::write(&config, text).unwrap();
    };
    write(r#"["127.0.0.1", "127.0.0.2"]"#, true);
    let line = format!("sink --config {}", config.display());
    let b = lab.b.start(&line, "sink attached");
    let traffic = Traffic::new(&lab);
    await_states(&lab.b, &[(1, "answers"), (2, "answers")]);
    let mut before = collectors.flows(&traffic);
    before.remove(&3);
    is_split(&before);

    write(r#"["127.0.0.3", "127.0.0.2", "127.0.0.1"]"#, true);
    b.signal(Signal::SIGHUP);
    await_states(&lab.b, &[(1, "answers"), (2, "answers"), (3, "answers")]);
    let after = collectors.flows(&traffic);
    is_split(&after);
    for (number, before) in &before {
        assert!(after[number].is_subset(before), "only to the new one");
    }
    let numbers = |number| {
        let lines = collectors.lines(number);
        let numbers = lines
            .iter()
            .map(|line| line["report_seq"].as_u64().unwrap());
        numbers.collect::<Vec<_>>()
    };
    for number in [1, 2, 3] {
        let numbers = numbers(number);
        let expected: Vec<_> = (1..=numbers.len() as u64).collect();
        assert_eq!(numbers, expected, "127.0.0.{number} misses none");
    }

    write(r#"["127.0.0.3", "127.0.0.2"]"#, false);
    b.signal(Signal::SIGHUP);
    await_states(&lab.b, &[(2, "unprobed"), (3, "unprobed")]);
    await_that("each gets all", || {
        let flows = collectors.flows(&traffic);
        flows[&2] == flows[&3] && flows[&2].len() == usize::from(FLOWS)
    });
    std::fs::remove_file(config).unwrap();
}
