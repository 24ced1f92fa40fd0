//! ClickHouse: rows on this side and on the wire, and what a server keeps of them.

use std::hint::black_box;
use std::io::Write;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use flate2::Compression;
use flate2::write::GzEncoder;
use hostint::engines::clickhouse::{ClickHouse, RowGroup, append_rows, packed_rows};
use hostint::engines::{Engine, Parcel};
use hostint::model::Record;
use hostint_testing::clickhouse;

use super::{network, ns_each, parcel};

const PARCEL: u64 = 50_000;
const REPORTS: u64 = 1_000_000;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn lines(parcel: &Parcel) -> Vec<u8> {
    let mut lines = Vec::new();
    for entry in parcel.entries() {
        let record = Record::new(&entry.report, entry.arrival).in_class(entry.class.as_deref());
        record.append_line(&mut lines).unwrap();
    }
    lines
}

/// The rows of each group, with the columns that the engine sends.
fn groups(parcel: &Parcel, packed: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for group in RowGroup::ALL {
        let (run, entries, columns) = (parcel.run(), group.entries(parcel), group.columns());
        if packed {
            bytes.extend(packed_rows(run, entries, &columns, 0).unwrap());
        } else {
            append_rows(run, entries, &columns, 0, &mut bytes);
        }
    }
    bytes
}

type Make<'a> = &'a dyn Fn(&Parcel) -> Vec<u8>;

/// Time and bytes for each report, by format.
pub fn rows() {
    let parcel = parcel(
        &mut network(),
        1,
        PARCEL,
        1_800_000_000_000_000_000,
        100_000,
    );
    let plain = |parcel: &Parcel| groups(parcel, false);
    let packed = |parcel: &Parcel| groups(parcel, true);
    let packed_lines = |parcel: &Parcel| gzip(&lines(parcel));
    let formats: [(&str, Make<'_>); 4] = [
        ("RowBinary", &plain),
        ("RowBinary, gzip", &packed),
        ("JSON lines", &lines),
        ("JSON lines, gzip", &packed_lines),
    ];
    println!("\nclickhouse: parcels of {PARCEL} reports\n");
    println!("| format | ns a report | bytes a report |");
    println!("|---|---|---|");
    for (name, make) in formats {
        let bytes = make(&parcel).len() as f64 / PARCEL as f64;
        let ns = ns_each(PARCEL as usize, || {
            drop(black_box(make(black_box(&parcel))))
        });
        println!("| {name} | {ns:.0} | {bytes:.1} |");
    }
}

/// Bytes at a server: of the distribution, or one at `CLICKHOUSE_URL` that has the tables, empty.
pub fn disk() {
    let own = std::env::var("CLICKHOUSE_URL").map_or_else(
        |_| {
            let started =
                clickhouse::Server::start("bench", &clickhouse::Ports::free("127.0.0.1"), &[]);
            started.run(clickhouse::PLAIN);
            Err(started)
        },
        Ok,
    );
    let url = own.as_ref().unwrap_or_else(|server| &server.url);
    let ask = |sql: &str| clickhouse::try_ask(url, sql).unwrap();
    let mut engine = ClickHouse::new(url, "hostint", "reports", None).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    // In ten minutes of one hour.
    let begin_ns = (now.as_secs() / 3600 - 1) * 3_600_000_000_000;
    let step_ns = 600_000_000_000 / REPORTS;
    let mut network = network();
    let mut spent = 0.0;
    for first in (1..REPORTS).step_by(PARCEL as usize) {
        let parcel = parcel(&mut network, first, PARCEL, begin_ns, step_ns);
        let begin = Instant::now();
        engine.deliver(&parcel).unwrap();
        spent += begin.elapsed().as_secs_f64();
    }
    println!(
        "\nclickhouse-disk: ClickHouse {}",
        ask("SELECT version()").trim()
    );
    println!(
        "{:.0} reports a second, acknowledged\n",
        REPORTS as f64 / spent
    );
    println!("| table | rows | bytes | bytes a report |");
    println!("|---|---|---|---|");
    for table in ["reports", "rollup_10s", "rollup_1m", "rollup_1h"] {
        ask(&format!("OPTIMIZE TABLE hostint.{table} FINAL"));
        let sizes = ask(&format!(
            "SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE database = 'hostint' AND table = '{table}' AND active"
        ));
        let (rows, bytes) = sizes.trim().split_once('\t').unwrap();
        let each = bytes.parse::<f64>().unwrap() / REPORTS as f64;
        println!("| {table} | {rows} | {bytes} | {each:.2} |");
    }
    println!("\ncolumns of reports with the most bytes:");
    print!(
        "{}",
        ask(
            "SELECT name, data_compressed_bytes FROM system.columns WHERE database = 'hostint' AND table = 'reports' \
         ORDER BY data_compressed_bytes DESC LIMIT 12",
        )
    );
}
