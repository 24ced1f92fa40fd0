//! IPFIX records hold the values of their reports.

use hostint::engines::FedReport;
use hostint::model::*;
use hostint_testing::golden;
use hostint_testing::random::Random;
use hostint_testing::synthetic::Synthetic;

use super::decoder::*;
use super::parcels::*;

const MS: u64 = 1_000_000;

fn delivered(entries: Vec<FedReport>) -> (Vec<DataRecord>, usize) {
    let mut sending = Sending::new();
    let refused = sending.deliver(&parcel(1, entries));
    (sending.session.flows, refused)
}

#[test]
fn reports_of_a_flow_are_a_record_of_what_they_tell() {
    struct Case {
        name: &'static str,
        reports: Vec<Report>,
        /// Of each record: elements that it has, with their values.
        records: Vec<Vec<(u16, u64)>>,
    }
    let tagged = |outer, inner| FlowKey {
        vlans: Vlans { outer, inner },
        ..flow4()
    };
    let cases = [
        Case {
            name: "delays, rounded to microseconds: their sum at once",
            reports: vec![
                latency(flow4(), 10_400),
                latency(flow4(), 20_400),
                latency(flow4(), 30_499),
            ],
            records: vec![vec![
                (REPORTS, 3),
                (MIN_US, 10),
                (MEAN_US, 20),
                (MAX_US, 30),
                (SUM_US, 61),
                (PROTOCOL, 6),
                (SPORT, 40_000),
                (DPORT, 443),
                (SOURCE, 1),
                (SINK, 2),
                (SRC4, 0x0a00_0001),
                (DST4, 0x0a00_0002),
                (VLAN, 0),
                (CUSTOMER_VLAN, 0),
                (START_MS, TIME_NS / MS),
                (END_MS, TIME_NS / MS + 2),
            ]],
        },
        Case {
            name: "a delay below zero has no element: the report counts by itself",
            reports: vec![latency(flow4(), -1), latency(flow4(), 0)],
            records: vec![vec![(REPORTS, 1)], vec![(REPORTS, 1), (SUM_US, 0)]],
        },
        Case {
            name: "losses",
            reports: vec![loss(flow4(), 3), loss(flow4(), 4)],
            records: vec![vec![(REPORTS, 2), (DROPPED, 7), (STATUS, 128)]],
        },
        Case {
            name: "delay and loss of one flow are a record each",
            reports: vec![
                loss(flow4(), 1),
                latency(flow4(), 1000),
                loss(flow4(), 1),
                latency(flow4(), 2000),
            ],
            records: vec![
                vec![(REPORTS, 2), (SUM_US, 3)],
                vec![(REPORTS, 2), (DROPPED, 2)],
            ],
        },
        Case {
            name: "packets of a flow that began after the first report",
            reports: vec![
                latency(flow4(), 1000),
                summary(flow4(), TIME_NS + MS, 10, 1000),
                summary(flow4(), TIME_NS + MS, 15, 1700),
            ],
            records: vec![
                vec![(REPORTS, 1), (SUM_US, 1)],
                vec![(REPORTS, 2), (PACKETS, 15), (OCTETS, 1700)],
            ],
        },
        Case {
            name: "packets of a flow that began before: what came since is counted",
            reports: vec![
                summary(flow4(), TIME_NS - 1, 1000, 100_000),
                summary(flow4(), TIME_NS - 1, 1010, 101_500),
            ],
            records: vec![vec![(REPORTS, 2), (PACKETS, 10), (OCTETS, 1500)]],
        },
        Case {
            name: "a summary that comes late counts nothing, and takes nothing away",
            reports: vec![
                summary(flow4(), TIME_NS + MS, 10, 1000),
                summary(flow4(), TIME_NS + MS, 4, 400),
                summary(flow4(), TIME_NS + MS, 11, 1100),
            ],
            records: vec![vec![(REPORTS, 3), (PACKETS, 11), (OCTETS, 1100)]],
        },
        Case {
            name: "a flow that begins anew under its old name",
            reports: vec![
                summary(flow4(), TIME_NS - 1, 1000, 100_000),
                summary(flow4(), TIME_NS + MS, 2, 200),
                summary(flow4(), TIME_NS - 1, 1001, 100_100),
            ],
            records: vec![vec![(REPORTS, 3), (PACKETS, 2), (OCTETS, 200)]],
        },
        Case {
            name: "VLANs: one tag, and two",
            reports: vec![
                latency(tagged(0, 7), 1000),
                latency(tagged(8, 7), 1000),
                latency(tagged(0, 7), 1000),
            ],
            records: vec![
                vec![(REPORTS, 2), (VLAN, 7), (CUSTOMER_VLAN, 0)],
                vec![(REPORTS, 1), (VLAN, 8), (CUSTOMER_VLAN, 7)],
            ],
        },
        Case {
            name: "IPv6",
            reports: vec![latency(flow("2001:db8::1", "2001:db8::2"), 1000)],
            records: vec![vec![(REPORTS, 1), (SUM_US, 1)]],
        },
    ];
    for case in cases {
        let entries = (0..).zip(case.reports).map(|(n, report)| {
            // Milliseconds apart.
            entry(n + 1, report, TIME_NS + n * MS)
        });
        let (records, refused) = delivered(entries.collect());
        assert_eq!(refused, 0, "{}", case.name);
        assert_eq!(records.len(), case.records.len(), "{}", case.name);
        for (record, expected) in records.iter().zip(case.records) {
            for (element, value) in expected {
                let found = record.maybe(element);
                assert_eq!(found, Some(value), "{}: {element}", case.name);
            }
            let kinds = [SUM_US, DROPPED, PACKETS];
            let has = kinds.iter().filter(|kind| record.has(**kind)).count();
            assert!(has <= 1, "{}: nothing is made up: {record:?}", case.name);
        }
    }
}

#[test]
fn addresses_are_whole_in_either_family() {
    let (records, _) = delivered(vec![
        entry(1, latency(flow("2001:db8::1", "2001:db8::2"), 1), TIME_NS),
        entry(2, latency(flow4(), 1), TIME_NS),
    ]);
    let by_id = |number: u64| {
        let id = RUN.0.wrapping_add(number);
        let mut all = records.iter();
        all.find(|record| record.number(FLOW_ID) == id).unwrap()
    };
    let six = |last: u8| {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&[0x20, 1, 0xd, 0xb8]);
        bytes[15] = last;
        bytes
    };
    assert_eq!(by_id(1).bytes(SRC6), six(1));
    assert_eq!(by_id(1).bytes(DST6), six(2));
    assert!(!by_id(1).has(SRC4) && !by_id(2).has(SRC6));
}

#[test]
fn drop_reasons_become_forwarding_status() {
    struct Case {
        reason: Option<&'static str>,
        status: u64,
    }
    let cases = [
        (None, 128),
        (Some("unknown"), 128),
        (Some("acl deny"), 129),
        (Some("outer ip routing miss"), 131),
        (Some("mtu check fail"), 133),
        (Some("ip checksum invalid"), 134),
        (Some("ip header length invalid"), 136),
        (Some("ip ttl zero"), 137),
        (Some("urpf check fail"), 140),
    ];
    for (reason, status) in cases {
        let case = Case { reason, status };
        let dropped = golden::decode(&golden::udp_payload("tr10_drop")).unwrap();
        let mut one = entry(1, dropped, TIME_NS);
        one.drop_reason = case.reason.map(Box::from);
        let (records, refused) = delivered(vec![one]);
        assert_eq!((records.len(), refused), (1, 0), "{reason:?}");
        assert_eq!(records[0].number(STATUS), case.status, "{reason:?}");
        assert_eq!(records[0].number(DROPPED), 1, "{reason:?}");
    }
}

/// Of every kind: the golden reports, with what nobody's clock says, too.
#[test]
fn reports_of_all_kinds_are_in_one_record_each_or_refused() {
    let (mut random, seed) = Random::from_env();
    let mut kinds: Vec<Report> = Vec::new();
    for name in golden::with_reports() {
        let group = hostint::collector::decode(&golden::udp_payload(&name));
        kinds.extend(group.into_iter().flat_map(|group| group.reports));
    }
    let no_flow = kinds.iter().filter_map(|report| {
        let mut report = report.clone();
        let Body::Packet(packet) = &mut report.observation.body else {
            return None;
        };
        packet.packet = None;
        Some(report)
    });
    kinds.extend(no_flow.collect::<Vec<_>>());
    let mut synthetic = Synthetic::new(seed, 4, 50);
    let mut sending = Sending::new();
    let (mut sent, mut without_flow, mut lost) = (0, 0, 0);
    for round in 1..=20 {
        let mut entries = Vec::new();
        for _ in 0..1 + random.below(400) {
            let time_ns = TIME_NS + random.below(1_000_000_000) as u64;
            let report = match random.below(3) {
                0 => kinds[random.below(kinds.len())].clone(),
                _ => synthetic.report(random.below(50), time_ns).report,
            };
            sent += 1;
            let observed = ReportFacts::new(&report, None, || 0);
            match observed.flow {
                None => without_flow += 1,
                Some(_) => lost += u64::from(observed.lost),
            }
            let mut one = entry(sent, report, time_ns);
            if random.one_in(10) {
                one.arrival = None;
            }
            entries.push(one);
        }
        let before = sending.session.flows.len();
        let refused = sending.deliver(&parcel(round, entries));
        let refused = refused as u64;
        assert!(refused <= without_flow, "seed {seed}, round {round}");
        assert!(sending.session.flows.len() > before, "seed {seed}");
    }
    let sums = Sums::of(&sending.session.flows);
    assert_eq!(sums.reports, sent - without_flow, "seed {seed}");
    assert_eq!(sums.dropped, lost, "seed {seed}");
    assert!(without_flow > 0, "seed {seed}: some show no flow");
    let records = sending.session.flows.len() as u64;
    assert_eq!(
        sums.records, records,
        "seed {seed}: no record has another's ID"
    );
    assert_eq!(sending.session.missing, 0, "seed {seed}");
}
