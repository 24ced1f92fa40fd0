//! Where engines are reached: addresses and brokers as people write them.

use hostint::config::{IpfixOptions, KafkaOptions};

#[test]
fn collectors_are_named_as_people_do() {
    let cases = [
        ("192.0.2.9", "192.0.2.9:4739"),
        ("192.0.2.9:2055", "192.0.2.9:2055"),
        ("2001:db8::9", "[2001:db8::9]:4739"),
        ("[2001:db8::9]", "[2001:db8::9]:4739"),
        ("[2001:db8::9]:2055", "[2001:db8::9]:2055"),
        ("flows.example", "flows.example:4739"),
        ("flows.example:2055", "flows.example:2055"),
    ];
    for (given, expected) in cases {
        let options = IpfixOptions {
            ipfix: Some(given.to_owned()),
            ..IpfixOptions::default()
        };
        let mut faults = Vec::new();
        let config = options.check(&mut faults);
        let collector = config.map(|config| config.collector);
        assert_eq!(collector.as_deref(), Some(expected));
        assert!(faults.is_empty(), "{given}: {faults:?}");
    }
}

#[test]
fn a_broker_has_a_port() {
    let cases = [
        ("broker", Some("broker:9092")),
        ("broker:9093", Some("broker:9093")),
        ("192.0.2.1", Some("192.0.2.1:9092")),
        ("192.0.2.1:1", Some("192.0.2.1:1")),
        ("2001:db8::9092", Some("[2001:db8::9092]:9092")),
        ("[2001:db8::1]", Some("[2001:db8::1]:9092")),
        ("[2001:db8::1]:9093", Some("[2001:db8::1]:9093")),
        ("broker:65536", None),
        ("broker:09093", Some("broker:9093")),
        ("kafka://broker:9092", None),
        ("", None),
    ];
    for (text, broker) in cases {
        let options = KafkaOptions {
            kafka: vec![text.to_owned()],
            ..KafkaOptions::default()
        };
        let mut faults = Vec::new();
        let config = options.check(&mut faults).expect("it is used");
        assert_eq!(config.brokers.first().map(String::as_str), broker, "{text}");
        assert_eq!(faults.is_empty(), broker.is_some(), "{text}: {faults:?}");
    }
}
