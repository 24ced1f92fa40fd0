//! Captures by wrong clocks, of fragments, and of packets that were cut are read as far as can be, and told as what they are.

use hostint_testing::golden::frame;
use hostint_testing::harness::{hostint, text};
use hostint_testing::scratch::{Folder, TempFile};
use serde_json::Value;

/// A day before these tests were written, which is in the past wherever they run.
const BEGIN_S: u32 = 1_760_000_000;

/// A capture of packets with the second of each, and its length on the wire.
fn capture(packets: &[(u32, Vec<u8>, usize)]) -> Vec<u8> {
    let words = |words: &[u32]| -> Vec<u8> {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        bytes.collect()
    };
    let mut out = words(&[0xa1b2_3c4d, 0x0004_0002, 0, 0, 65_535, 1]);
    for (second, bytes, length) in packets {
        out.extend(words(&[*second, 0, bytes.len() as u32, *length as u32]));
        out.extend(bytes);
    }
    out
}

/// A hundred reports of v2.0 in a row, five seconds apart.
fn reports(begin_s: u32) -> Vec<(u32, Vec<u8>, usize)> {
    let packet = frame("tr20_drop");
    let one = |n: u32| {
        let mut packet = packet.clone();
        // The number of the datagram; the UDP checksum is left out.
        packet[45] = n as u8;
        (packet[40], packet[41]) = (0, 0);
        (begin_s + 5 * n, packet.clone(), packet.len())
    };
    (0..100).map(one).collect()
}

fn history(store: &str, args: &[&str]) -> Value {
    let mut all = vec!["history"];
    all.extend(args);
    all.extend([
        "--store",
        store,
        "--json",
        "--since",
        "2025-01-01T00:00:00Z",
    ]);
    let output = hostint(&all);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn one_wrong_time_wipes_no_history() {
    const DAYS: u32 = 86_400;
    for (sentence, place, wrong_s) in [
        ("the 51st in 2106", 50, 0xffff_fff0),
        ("the 51st two days ahead", 50, BEGIN_S + 250 + 2 * DAYS),
        ("the first in 2106", 0, 0xffff_fff0),
        ("the last two days ahead", 99, BEGIN_S + 495 + 2 * DAYS),
        ("the 51st in 1970", 50, 3),
    ] {
        let folder = Folder::create();
        let store = folder.file("h.db");
        let store = store.to_str().unwrap();
        let earlier = TempFile::new("earlier.pcap", capture(&reports(BEGIN_S - 1000)));
        let mut wrong = reports(BEGIN_S);
        wrong[place].0 = wrong_s;
        let wrong = TempFile::new("wrong.pcap", capture(&wrong));
        for file in [&earlier, &wrong] {
            let output = hostint(&["collect", "--read", file.path(), "--store", store]);
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{sentence}: {said}");
            assert!(said.contains("100 reports stored"), "{sentence}: {said}");
            let is_told = said.contains("1 with a time far from the others' (theirs is taken)");
            assert_eq!(is_told, file.path() == wrong.path(), "{sentence}: {said}");
        }
        let series = history(store, &["series", "--points", "1000"]);
        let points = series["points"]
            .as_array()
            .or(series["series"]["points"].as_array());
        let points = points.unwrap_or_else(|| panic!("{series}"));
        let sum: u64 = points
            .iter()
            .map(|point| {
                point["reports"]
                    .as_u64()
                    .or(point["figures"]["reports"].as_u64())
                    .unwrap()
            })
            .sum();
        assert_eq!(sum, 200, "{sentence}: {series}");
        let period = series["period_ns"]
            .as_u64()
            .or(series["series"]["period_ns"].as_u64());
        assert!(period.unwrap() <= 60_000_000_000, "{sentence}: {period:?}");
    }
}

#[test]
fn one_line_with_a_wrong_time_or_none_wipes_no_history() {
    let lines = {
        let file = TempFile::new("good.pcap", capture(&reports(BEGIN_S)));
        text(&hostint(&["collect", "--read", file.path(), "--json"]).stdout)
    };
    type Change = fn(&mut Value);
    let cases: [(&str, Change); 3] = [
        ("40 years ahead", |line| {
            let ahead = u64::from(BEGIN_S + 1_261_440_000) * 1_000_000_000;
            line["received_ns"] = ahead.into();
        }),
        ("in 1970", |line| line["received_ns"] = 5.into()),
        ("no time", |line| {
            line.as_object_mut().unwrap().remove("received_ns");
        }),
    ];
    for (sentence, change) in cases {
        for place in [0, 50, 99] {
            let mut all: Vec<String> = lines.lines().map(str::to_owned).collect();
            let mut line: Value = serde_json::from_str(&all[place]).unwrap();
            change(&mut line);
            all[place] = line.to_string();
            let folder = Folder::create();
            let store = folder.file("h.db");
            let store = store.to_str().unwrap();
            let file = TempFile::new("wrong.jsonl", all.join("\n"));
            let output = hostint(&["collect", "--read", file.path(), "--store", store]);
            let said = text(&output.stderr);
            assert!(
                said.contains("1 with a time far from the others' (theirs is taken)"),
                "{sentence} at {place}: {said}"
            );
            let sum = stored_reports(store);
            assert_eq!(sum, 100, "{sentence} at {place}: {said}");
        }
    }
}

/// The reports that the history has of the whole time.
fn stored_reports(store: &str) -> u64 {
    let series = history(store, &["series", "--points", "1000"]);
    let points = series["series"]["points"].as_array().unwrap().iter();
    points.map(|point| point["reports"].as_u64().unwrap()).sum()
}

#[test]
fn a_capture_without_reports_says_what_it_has() {
    let report = frame("tr20_drop");
    let whole = |packet: Vec<u8>| {
        let length = packet.len();
        (BEGIN_S, packet, length)
    };
    let fragment = |offset: u16, more: bool| {
        let mut packet = report.clone();
        let field = offset | if more { 0x2000 } else { 0 };
        packet[20..22].copy_from_slice(&field.to_be_bytes());
        whole(packet)
    };
    let cut = |length: usize| (BEGIN_S, report[..length].to_vec(), report.len());
    let mut elsewhere = report.clone();
    (elsewhere[36], elsewhere[37]) = (0, 53);
    for (sentence, packets, says) in [
        (
            "two fragments",
            vec![fragment(0, true), fragment(9, false)],
            "no packet to UDP port 32766 is whole: there are fragments only, which are not put together",
        ),
        (
            "cut behind the UDP header",
            vec![cut(60)],
            "no packet to UDP port 32766 is whole: the capture cut them (try tcpdump --snapshot-length 0)",
        ),
        (
            "cut in the UDP header",
            vec![cut(36)],
            "the capture cut them (try tcpdump --snapshot-length 0)",
        ),
        (
            "cut in the IP header",
            vec![cut(20)],
            "the capture cut them (try tcpdump --snapshot-length 0)",
        ),
        (
            "another port",
            vec![whole(elsewhere)],
            "no packet goes to UDP port 32766 (try --port)",
        ),
    ] {
        let file = TempFile::new("nothing.pcap", capture(&packets));
        let output = hostint(&["collect", "--read", file.path()]);
        let said = text(&output.stderr);
        assert!(said.contains(says), "{sentence}: {said}");
    }
}

#[test]
fn lines_of_which_none_is_a_report_are_an_error() {
    let good = {
        let file = TempFile::new("good.pcap", capture(&reports(BEGIN_S)[..1]));
        let output = hostint(&["collect", "--read", file.path(), "--json"]);
        text(&output.stdout)
    };
    for (sentence, lines, code) in [
        (
            "none is readable",
            "{\"a\": 1}\n{}\n{\"schema\n".to_owned(),
            1,
        ),
        ("one of them is", format!("{{}}\n{good}"), 0),
        ("blank lines only", "{\n".to_owned(), 1),
    ] {
        let file = TempFile::new("lines.jsonl", lines);
        let output = hostint(&["collect", "--read", file.path()]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{sentence}: {said}");
        assert_eq!(
            said.contains("is a report"),
            code == 1,
            "{sentence}: {said}"
        );
    }
}
