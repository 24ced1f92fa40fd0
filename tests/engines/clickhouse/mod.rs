//! A ClickHouse server of the distribution holds each report exactly once, after crashes and cut connections too.

use std::collections::HashSet;

use hostint::engines::clickhouse::{ClickHouse, User};
use hostint::engines::{Engine, Trouble};
use hostint::model::*;

mod groups;
#[cfg(feature = "real-engines")]
mod modern;
mod plain_schema;
mod troubles;

use hostint_testing::clickhouse::{DISTRIBUTED, PLAIN, Ports, Server};
use hostint_testing::clickhouse_queries::Known;
use hostint_testing::clickhouse_rows::parcel;
use hostint_testing::collecting::Collecting;
use hostint_testing::netns::Lab;
use hostint_testing::synthetic::Synthetic;

fn loopback(name: &str) -> Server {
    Server::start(name, &Ports::of_loopback(), &[])
}

fn engine(url: &str, table: &str) -> ClickHouse {
    ClickHouse::new(url, "hostint", table, None).unwrap()
}

/// Reports, and how long nothing can be delivered.
fn extent() -> (u64, std::time::Duration) {
    match std::env::var_os("HOSTINT_LONG") {
        Some(_) => (1_000_000, std::time::Duration::from_secs(60)),
        None => (20_000, std::time::Duration::from_secs(1)),
    }
}

/// These need root.
mod root {
    use super::*;

    #[test]
    fn what_was_sent_is_there_once_after_a_crash_and_a_cut() {
        let (reports, outage) = extent();
        let lab = Lab::new();
        let ports = lab.b.enter(|| Ports::free("10.9.2.1"));
        let mut server = lab.b.enter(|| Server::start("outages", &ports, &[]));
        lab.b.enter(|| server.run(PLAIN));
        let args = ["--clickhouse", &server.url, "--engine-queue", "2G"];
        let mut collecting = lab.a.enter(|| Collecting::start(&args));
        let troubled = |collecting: &Collecting| {
            lab.a.enter(|| {
                collecting.await_status("it is in trouble", |status| {
                    !status["engines"][0]["trouble"].is_null()
                });
            });
        };
        lab.a.enter(|| collecting.send(reports / 4));
        lab.a.enter(|| collecting.await_delivery("clickhouse"));

        lab.a.enter(|| collecting.send(reports / 8));
        lab.b.enter(|| server.kill());
        lab.a.enter(|| collecting.send(reports / 8));
        troubled(&collecting);
        std::thread::sleep(outage);
        lab.b.enter(|| server.restart());
        lab.a.enter(|| collecting.await_delivery("clickhouse"));

        lab.a.enter(|| collecting.send(reports / 8));
        lab.m.sh("ip link set m1 down");
        lab.a.enter(|| collecting.send(reports / 8));
        troubled(&collecting);
        std::thread::sleep(outage);
        lab.m.sh("ip link set m1 up");
        lab.a.enter(|| collecting.send(reports / 4));
        lab.a.enter(|| collecting.await_delivery("clickhouse"));

        let sent = &collecting.sent;
        assert_eq!(sent.reports, reports);
        let engine = lab.a.enter(|| collecting.engine("clickhouse"));
        for count in ["queue_drops", "refused", "abandoned"] {
            assert_eq!(engine[count], 0, "{count}: {engine}");
        }
        assert!(engine["retries"].as_u64().unwrap() >= 2, "{engine}");
        let ask = |sql: &str| lab.b.enter(|| server.ask(sql));
        let sums = ask(
            "SELECT count(), countIf(kind = 'latency'), sum(latency_ns), countIf(kind = 'drop-summary'), sum(lost), \
             uniqExact(number), max(number), uniqExact(run) FROM hostint.reports FINAL",
        );
        let expected = format!(
            "{reports}\t{}\t{}\t{}\t{}\t{reports}\t{reports}\t1\n",
            sent.latency_reports, sent.latency_ns, sent.drop_summaries, sent.lost
        );
        assert_eq!(sums, expected);
    }
}

/// These need programs that `packaging/install-build-deps.sh --test` installs.
mod tools {
    use super::*;

    #[test]
    fn queries_answer_what_the_reports_tell() {
        let server = loopback("queries");
        server.run(PLAIN);
        let known = Known::new(10_000);
        known.deliver(&mut engine(&server.url, "reports"));
        known.check(&|sql| server.ask(sql));
        // Again, as after acknowledgements that were lost: single reports count once.
        known.deliver(&mut engine(&server.url, "reports"));
        assert_eq!(
            server.ask("SELECT count() FROM hostint.reports FINAL"),
            "10000\n"
        );
    }

    #[test]
    fn every_kind_of_report_is_a_row_with_what_it_tells() {
        let server = loopback("kinds");
        server.run(PLAIN);
        let user = User {
            name: "writer".to_owned(),
            password: Some("between us".to_owned()),
        };
        let mut engine = ClickHouse::new(&server.url, "hostint", "reports", Some(user)).unwrap();
        hostint_testing::clickhouse_rows::check(&mut engine, &|sql| server.ask(sql));
    }

    #[test]
    fn an_older_table_takes_rows_after_the_statement_that_is_said() {
        let server = loopback("older");
        let is_new = |line: &&str| {
            let line = line.trim();
            line.starts_with("`pods.") || line.contains("ALIAS arrayElement(pods.")
        };
        let older: Vec<_> = PLAIN.lines().filter(|line| !is_new(line)).collect();
        server.run(&older.join("\n"));
        let mut synthetic = Synthetic::new(3, 8, 100);
        let sample = synthetic.report(0, 1_800_000_000_000_000_000);
        let parcel = parcel(1, [(sample.report, Some(sample.arrival))]);
        let mut engine = engine(&server.url, "reports");
        let Err(Trouble::Later(why)) = engine.deliver(&parcel) else {
            panic!("it lacks columns");
        };
        let (_, statement) = why.split_once("(try ").unwrap();
        let (statement, _) = statement.split_once(';').unwrap();
        assert_eq!(statement.matches("ADD COLUMN `pods.").count(), 6, "{why}");
        server.ask(statement);
        engine.deliver(&parcel).unwrap();
        let asked = "SELECT count(), sum(length(pods.pod)) FROM hostint.reports";
        assert_eq!(server.ask(asked), "1\t0\n");
    }

    #[test]
    fn both_directions_of_a_flow_land_on_the_same_shard() {
        let ports = [(); 2].map(|()| Ports::of_loopback());
        let servers = [0, 1].map(|n| Server::start(&format!("shard{n}"), &ports[n], &ports));
        for server in &servers {
            server.run(PLAIN);
            server.run(DISTRIBUTED);
        }
        let mut synthetic = Synthetic::new(3, 8, 100);
        let there: Vec<_> = (0..2000)
            .map(|n| synthetic.report(n % 100, 1_800_000_000_000_000_000 + n as u64))
            .collect();
        let both = there.into_iter().flat_map(|sample| {
            let mut back = sample.report.clone();
            let flow = match &mut back.observation.body {
                Body::DropSummary(summary) => &mut summary.flow,
                Body::Latency(LatencyReport {
                    packet: ReportedPacket::Named { flow, .. },
                    ..
                }) => flow,
                body => panic!("{body:?}"),
            };
            (flow.src, flow.dst) = (flow.dst, flow.src);
            (flow.sport, flow.dport) = (flow.dport, flow.sport);
            [sample.report, back].map(|report| (report, Some(sample.arrival)))
        });
        let parcel = parcel(1, both);
        let mut engine = engine(&servers[0].url, "reports_all");
        engine.deliver(&parcel).unwrap();

        assert_eq!(
            servers[1].ask("SELECT count() FROM hostint.reports_all"),
            "4000\n"
        );
        let flows = servers.each_ref().map(|server| {
            let alone =
                "SELECT flow_hash, uniqExact(src, sport) FROM hostint.reports GROUP BY flow_hash";
            let answer = server.ask(alone);
            let flows = answer.lines().map(|line| {
                let (hash, directions) = line.split_once('\t').unwrap();
                assert_eq!(directions, "2", "{hash}");
                hash.to_owned()
            });
            flows.collect::<HashSet<_>>()
        });
        assert!(flows.iter().all(|flows| flows.len() > 10), "both have some");
        assert!(flows[0].is_disjoint(&flows[1]));
        assert_eq!(flows[0].len() + flows[1].len(), 100);
        let rolled = "SELECT countMerge(reports_state) FROM hostint.rollup_1h_all";
        assert_eq!(servers[1].ask(rolled), "4000\n", "roll-ups of all shards");

        // The same parcel again, as if its acknowledgement had been lost.
        engine.deliver(&parcel).unwrap();
        let once = "SELECT count() FROM hostint.reports_all FINAL";
        assert_eq!(servers[1].ask(once), "4000\n");
    }
}
