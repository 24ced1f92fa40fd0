//! What several subsystems of a host report to one collector: it finds nothing lost and nothing twice.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use hostint::collector::{Exporters, decode};
use hostint::model::*;
use hostint::report::{Destinations, Emitter, ReportForm};
use hostint::wire::report_postcards;
use hostint_testing::report_samples;

const ROUNDS: u32 = 5;

/// A report of each subsystem of postcards and of connections, as hosts with hostint tell them, or as standard reports.
fn observations(version: ReportVersion, is_standard: bool) -> Vec<Observation> {
    let [drop, _] = report_samples::host_drops();
    let [hop, _] = report_samples::host_hops();
    let [episode, _] = report_samples::queue_episodes();
    let [connection, _] = report_samples::connections();
    if !is_standard {
        let own = [drop, hop, episode, connection];
        return own.map(|report| report.observation).into();
    }
    let (Body::HostDrop(drop), Body::FlowPassage(hop)) =
        (drop.observation.body, hop.observation.body)
    else {
        unreachable!()
    };
    let standard = [
        report_postcards::drop(&drop, version),
        report_postcards::hop(&hop, version),
    ];
    let made = standard.map(|(hw_id, flags, report)| Observation {
        hw_id,
        flags,
        clock: None,
        body: Body::Packet(Box::new(report)),
    });
    made.into()
}

#[test]
fn each_subsystem_has_numbers_of_its_own_in_each_version() {
    for (version, is_standard, subsystems) in [
        (ReportVersion::V05, false, &[1, 2, 3, 5][..]),
        (ReportVersion::V05, true, &[1, 2][..]),
        (ReportVersion::V20, true, &[1, 2][..]),
    ] {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let patience = Some(Duration::from_secs(10));
        socket.set_read_timeout(patience).unwrap();
        let to: SocketAddr = socket.local_addr().unwrap();
        let mut emitter = Emitter::new(Destinations {
            collectors: vec![to],
            form: ReportForm { version, dscp: 1 },
            ..Destinations::default()
        })
        .unwrap();
        for _ in 0..ROUNDS {
            for observation in observations(version, is_standard) {
                emitter.emit(observation);
            }
        }
        emitter.flush();
        let datagrams = emitter.counts().datagrams.sent;
        let mut exporters = Exporters::default();
        for _ in 0..datagrams {
            let mut buffer = [0; 9000];
            let length = socket.recv(&mut buffer).unwrap();
            let group = decode(&buffer[..length]).unwrap();
            let arrival = Arrival {
                exporter: to,
                received_ns: 0,
            };
            exporters.received(arrival, &group);
        }
        let sums = exporters.counts();
        let expected = observations(version, is_standard).len() * ROUNDS as usize;
        assert_eq!(sums.reports, expected as u64, "{version:?}");
        let all = exporters.each();
        let numbers = sums.numbers;
        let wrong = numbers.lost + numbers.duplicates + numbers.restarts + numbers.stale;
        assert_eq!(wrong, 0, "{version:?}: {all:#?}");
        let found: Vec<u8> = all.iter().map(|one| one.hw_id).collect();
        assert_eq!(found, subsystems, "{version:?}: {all:#?}");
    }
}
