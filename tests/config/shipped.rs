//! The shipped config file names every key, and its comments are true.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::LazyLock;

use hostint::config::{CollectOptions, Role, SinkOptions, SourceOptions, keys as all_keys};

use super::file::mistakes;

const SHIPPED: &str = include_str!("../../packaging/hostint.toml");
const PAGE: &str = include_str!("../../man/hostint.toml.5");

/// The file with each key that is commented out put to use, and the lines of keys by table.
fn put_to_use() -> (String, Vec<(String, String)>) {
    let (mut text, mut keys, mut table) = (String::new(), Vec::new(), String::new());
    for line in SHIPPED.lines() {
        let bare = line.strip_prefix('#').unwrap_or(line);
        let used = if bare.starts_with('[') {
            let header = bare.split('#').next().unwrap().trim();
            table = header.trim_matches(['[', ']']).to_owned();
            bare
        } else if bare.starts_with(|c: char| c.is_ascii_lowercase()) && bare.contains(" = ") {
            let (key, _) = bare.split_once(" = ").unwrap();
            keys.push((table.clone(), key.to_owned()));
            bare
        } else {
            line
        };
        text += used;
        text += "\n";
    }
    // There is no such file where tests run.
    let text = text.replace("lease-key", "#lease-key");
    let text = text.replace("push-headers-file", "#push-headers-file");
    let text = text.replace("events-token-file", "#events-token-file");
    let password = password();
    let text = text.replace("/etc/hostint/clickhouse.password", &password);
    let text = text.replace("/etc/hostint/kafka-password", &password);
    (text, keys)
}

/// A file with one.
fn password() -> String {
    static FILE: LazyLock<String> = LazyLock::new(|| {
        let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/shipped-password");
        let mut options = std::fs::OpenOptions::new();
        let file = options
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .open(path);
        file.unwrap().write_all(b"secret\n").unwrap();
        path.to_owned()
    });
    FILE.clone()
}

#[test]
fn the_shipped_file_sets_nothing_and_is_right() {
    let (file, found) = mistakes(SHIPPED.as_bytes());
    assert_eq!(found, Vec::<String>::new());
    for entries in [
        &file.sink.entries,
        &file.source.entries,
        &file.transit.entries,
        &file.postcards.entries,
        &file.tcp.entries,
        &file.collect.entries,
    ] {
        assert!(entries.is_empty(), "{entries:?}");
    }
    assert!(file.rules.is_empty());
}

#[test]
fn the_shipped_file_makes_a_host_sink_and_source_once_their_interfaces_are_named() {
    let header = |table: &str| SHIPPED.lines().position(|line| line == table).unwrap() + 1;
    let (file, _) = mistakes(SHIPPED.as_bytes());
    let refused = file.roles().unwrap_err();
    let lines: Vec<_> = refused.0.iter().map(|mistake| mistake.line).collect();
    assert_eq!(lines, [Some(header("[sink]")), Some(header("[source]"))]);
    let named = SHIPPED.replacen("#dev = [\"eth1\"]", "dev = [\"eth1\"]", 2);
    let (file, found) = mistakes(named.as_bytes());
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(file.roles().unwrap(), [Role::Sink, Role::Source]);
}

#[test]
fn with_all_comments_of_keys_removed_it_is_right_too() {
    let (text, _) = put_to_use();
    let (file, found) = mistakes(text.as_bytes());
    // The examples of compat, which do not go with three defaults, and of a mark that no default has a use for.
    let expected = [
        "[sink] summary-period: collectors of Host-INT do not know",
        "[sink] int-dscp: it marks int-md packets",
        "[source] encap: sinks of Host-INT do not know",
        "[source] superpackets: sinks of Host-INT do not know",
        "[source] int-dscp: it marks int-md packets",
        "[source] mx-sample: it is about packets in mode mx",
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found}");
    }
    assert_eq!(file.rules.len(), 3);
}

#[test]
fn what_stands_for_settings_of_sd_fabric_is_right() {
    let (_, section) = PAGE.split_once(".SH FROM SD").unwrap();
    let (_, example) = section.split_once(".EX\n").unwrap();
    let (example, _) = example.split_once(".EE").unwrap();
    let (file, found) = mistakes(example.replace("\\-", "-").as_bytes());
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(file.rules.len(), 2);
}

#[test]
fn examples_of_files_in_the_pages_are_right() {
    let pages = [
        PAGE,
        include_str!("../../man/hostint-tasks.7"),
        include_str!("../../man/hostint-source.8"),
    ];
    let mut checked = 0;
    for page in pages {
        for example in page.split(".EX\n").skip(1) {
            let (example, _) = example.split_once(".EE").unwrap();
            let example = example.replace("\\-", "-");
            if !example.trim_start().starts_with('[') {
                continue;
            }
            let (_, found) = mistakes(example.replace("lease-key", "#lease-key").as_bytes());
            assert_eq!(found, Vec::<String>::new(), "{example}");
            checked += 1;
        }
    }
    assert!(checked > 5, "{checked} examples");
}

#[test]
fn every_key_is_in_the_shipped_file_once() {
    let (_, keys) = put_to_use();
    for (table, known) in &all_keys() {
        for key in known {
            let times = keys.iter().filter(|(t, k)| t == table && k == key).count();
            let twice = usize::from(*table == "watch" && key == "to");
            assert_eq!(times, 1 + twice, "[{table}] {key}");
        }
    }
    let known: usize = all_keys().iter().map(|(_, keys)| keys.len()).sum();
    assert_eq!(keys.len(), known + 1, "keys that nobody knows");
}

#[test]
fn the_defaults_in_the_shipped_file_are_those_of_the_code() {
    let (text, _) = put_to_use();
    let without_examples: String = text
        .lines()
        .filter(|line| {
            // Postcards need their interfaces for hops and queues alone, which are examples, too.
            let of_example = line.contains("come and leave") || line.contains("whose queues");
            let needed = line.contains("dev =") && !of_example;
            !line.contains("example") || needed || line.starts_with("node-id")
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let (file, found) = mistakes(without_examples.as_bytes());
    assert_eq!(found, Vec::<String>::new());
    let sink = file.sink.options.check().unwrap();
    let plain = SinkOptions {
        dev: sink.devs.clone(),
        node_id: sink.node_id.map(|node| node.0),
        ..SinkOptions::default()
    };
    assert_eq!(sink, plain.check().unwrap());
    let source = file.source.options.check().unwrap();
    let plain = SourceOptions {
        dev: source.devs.clone(),
        node_id: source.source.node_id.map(|node| node.0),
        // Left out it is that, or as it is.
        max_flows: Some(65_536),
        ..SourceOptions::default()
    };
    assert_eq!(source, plain.check().unwrap());
    let collect = file.collect.options.check().unwrap();
    let default = CollectOptions::default().check().unwrap();
    let defaults = (default.json, default.queue, default.output);
    assert_eq!((collect.json, collect.queue, collect.output), defaults);
}

#[test]
fn every_key_of_a_rule_has_its_paragraph_in_the_page() {
    // The keys of the other tables are those of flags, and their lists are made from these.
    let sections: Vec<&str> = PAGE.split("\n.SH ").collect();
    for (table, known) in &all_keys() {
        if !["queue", "watch"].contains(table) {
            continue;
        }
        let header = format!("[[{table}]]");
        let section = sections
            .iter()
            .find(|section| section.starts_with(&header))
            .unwrap_or_else(|| panic!("no section {header}"));
        for key in known {
            let paragraph = format!("\n.HP 2\n.BR {} :\n", key.replace('-', "\\-"));
            assert!(section.contains(&paragraph), "{header} {key}");
        }
        let paragraphs = section.matches("\n.HP 2\n.BR ").count();
        assert_eq!(paragraphs, known.len(), "{header}");
    }
}
