//! A recent ClickHouse, chdb, accepts schema.sql and holds each report once.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use hostint::engines::clickhouse::ClickHouse;
use hostint_testing::clickhouse_queries::Known;
use hostint_testing::collecting::Collecting;

const SCHEMA: &str = include_str!("../../../packaging/clickhouse/schema.sql");

/// chdb behind HTTP.
struct Shim {
    child: Child,
    dir: PathBuf,
    url: String,
}

impl Shim {
    fn start(name: &str) -> Self {
        let name = format!("chdb-{}-{name}", std::process::id());
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&dir).unwrap();
        let venv = std::env::var("HOSTINT_ENGINES_VENV");
        let venv =
            venv.unwrap_or(concat!(env!("CARGO_MANIFEST_DIR"), "/target/engines-venv").into());
        let python = Path::new(&venv).join("bin/python3");
        let mut child = Command::new(&python)
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/engines/clickhouse/shim.py"
            ))
            .arg(&dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|err| {
                panic!(
                    "{}: {err} (try packaging/install-build-deps.sh --engines)",
                    python.display()
                )
            });
        let mut url = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        assert!(url.starts_with("http"), "chdb did not start");
        let shim = Self { child, dir, url };
        for statement in hostint_testing::clickhouse::statements(SCHEMA) {
            shim.ask(&statement);
        }
        shim
    }

    fn ask(&self, sql: &str) -> String {
        hostint_testing::clickhouse::try_ask(&self.url, sql)
            .unwrap_or_else(|err| panic!("{sql}: {err}"))
    }

    fn engine(&self) -> ClickHouse {
        ClickHouse::new(&self.url, "hostint", "reports", None).unwrap()
    }
}

impl Drop for Shim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

#[test]
fn queries_answer_what_the_reports_tell_and_nothing_counts_twice_that_comes_twice() {
    let shim = Shim::start("queries");
    let known = Known::new(10_000);
    known.deliver(&mut shim.engine());
    known.check(&|sql| shim.ask(sql));
    // Again, as after acknowledgements that were lost: the tokens tell.
    known.deliver(&mut shim.engine());
    known.check(&|sql| shim.ask(sql));
    let count = "SELECT count() FROM hostint.reports";
    let rolled = "SELECT countMerge(reports_state) FROM hostint.rollup_10s";
    assert_eq!(shim.ask(count), "10000\n");
    assert_eq!(shim.ask(rolled), "10000\n");
    // What no window covers comes again: rows are told by run and number, roll-ups count them, as schema.sql says.
    for table in ["reports", "rollup_10s", "rollup_1m", "rollup_1h"] {
        shim.ask(&format!(
            "ALTER TABLE hostint.{table} MODIFY SETTING non_replicated_deduplication_window = 0"
        ));
    }
    known.deliver(&mut shim.engine());
    assert_eq!(shim.ask(&format!("{count} FINAL")), "10000\n");
    assert_eq!(shim.ask(rolled), "20000\n");
}

#[test]
fn every_kind_of_report_is_a_row_with_what_it_tells() {
    let shim = Shim::start("kinds");
    // Samples are old.
    shim.ask("ALTER TABLE hostint.reports REMOVE TTL");
    hostint_testing::clickhouse_rows::check(&mut shim.engine(), &|sql| shim.ask(sql));
}

#[test]
fn what_a_collector_was_sent_is_there() {
    let shim = Shim::start("collector");
    let mut collecting = Collecting::start(&["--clickhouse", &shim.url]);
    collecting.send(20_000);
    collecting.await_delivery("clickhouse");
    let sent = &collecting.sent;
    let sums = shim.ask(
        "SELECT count(), countIf(kind = 'latency'), sum(latency_ns), sum(lost), uniqExact(number), max(number) \
         FROM hostint.reports",
    );
    let expected = format!(
        "20000\t{}\t{}\t{}\t20000\t20000\n",
        sent.latency_reports, sent.latency_ns, sent.lost
    );
    assert_eq!(sums, expected);
    let pruned = shim.ask(
        "EXPLAIN indexes = 1 SELECT count() FROM hostint.reports WHERE time < toDateTime('2001-01-01 00:00:00', 'UTC')",
    );
    assert!(pruned.contains("Parts: 0/"), "times prune parts: {pruned}");
}
