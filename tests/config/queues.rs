//! What is asked of queues is read as it was written, with defaults for what was not.

use hostint::config::{File, PostcardsOptions};
use hostint::model::{QueueLimits, QueueMeasure, QueueRule};

fn rule(text: &str) -> QueueRule {
    text.parse().unwrap_or_else(|why| panic!("{text}: {why}"))
}

#[test]
fn triggers_are_times_or_bytes() {
    use QueueMeasure::{Bytes, Time};
    // What is written; measure, trigger, reset, quota; and the queue.
    type Case = (&'static str, (QueueMeasure, u64, u64, u32), Option<u32>);
    let cases: [Case; 8] = [
        ("eth1=trigger:200us", (Time, 200_000, 100_000, 1024), None),
        (
            "eth1=trigger:1ms,reset:1ms,quota:0",
            (Time, 1_000_000, 1_000_000, 0),
            None,
        ),
        (
            "eth1=trigger:1m",
            (Time, 60_000_000_000, 30_000_000_000, 1024),
            None,
        ),
        ("eth1=trigger:1500", (Bytes, 1500, 750, 1024), None),
        ("eth1=trigger:1", (Bytes, 1, 0, 1024), None),
        ("eth1=trigger:200k,reset:0", (Bytes, 204_800, 0, 1024), None),
        (
            "eth1=quota:7,reset:1k,trigger:1M",
            (Bytes, 1 << 20, 1024, 7),
            None,
        ),
        (
            "eth1=trigger:2k,queue:3",
            (Bytes, 2048, 1024, 1024),
            Some(3),
        ),
    ];
    for (text, (measure, trigger, reset, quota), queue) in cases {
        let expected = QueueRule {
            dev: "eth1".to_owned(),
            queue,
            limits: QueueLimits {
                measure,
                trigger,
                reset,
                quota,
            },
        };
        assert_eq!(rule(text), expected, "{text}");
    }
}

#[test]
fn a_rule_may_be_for_a_pattern_of_names() {
    let all = rule("eth*=trigger:1ms");
    assert!(all.covers("eth0") && !all.covers("veth0") && !all.names_one());
    let one = rule("eth0=trigger:1ms");
    assert!(one.covers("eth0") && !one.covers("eth01") && one.names_one());
}

#[test]
fn queues_alone_are_enough_and_need_no_dev() {
    let text = "[postcards]\nqueue = [\"eth0=trigger:1ms\", \"eth1=trigger:200k,queue:2\"]\n";
    let (file, mistakes) = File::parse("hostint.toml".as_ref(), text.as_bytes());
    assert!(mistakes.is_empty(), "{}", mistakes.len());
    let config = file.postcards.options.check().unwrap();
    let expected = ["eth0=trigger:1ms", "eth1=trigger:200k,queue:2"].map(rule);
    assert_eq!(config.queues, expected);
    assert!(PostcardsOptions::default().check().is_err());
}

#[test]
fn tables_are_the_same_key_by_key() {
    let text = "\
[[queue]]
dev = [\"eth0\", \"veth*\"]
trigger = \"1ms\"
[[queue]]
dev = \"eth1\"
queue = 3
trigger = \"200k\"
reset = \"50k\"
quota = 7
[postcards]
queue = [\"eth9=trigger:5ms\"]
";
    let (file, mistakes) = File::parse("hostint.toml".as_ref(), text.as_bytes());
    assert!(mistakes.is_empty(), "{}", mistakes.len());
    let config = file.postcards.options.check().unwrap();
    let expected = [
        "eth9=trigger:5ms",
        "eth0=trigger:1ms",
        "veth*=trigger:1ms",
        "eth1=trigger:200k,reset:50k,quota:7,queue:3",
    ];
    assert_eq!(config.queues, expected.map(rule));
}
