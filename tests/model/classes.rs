//! A flow has the class of the rule that decides about it.

use hostint::model::{
    Classes, Classifier, DEFAULT_PRIORITY, FlowKey, RuleHost, Transport, Vlans, WatchAction,
    WatchRule,
};

fn rule(class: &str) -> WatchRule {
    WatchRule {
        class: Some(class.to_owned()).filter(|class| !class.is_empty()),
        priority: DEFAULT_PRIORITY,
        ..WatchRule::default()
    }
}

fn place(text: &str) -> Vec<RuleHost> {
    let prefixes = vec![text.parse().unwrap()];
    let text = text.to_owned();
    vec![RuleHost { text, prefixes }]
}

fn tcp(src: &str, dst: &str, dport: u16) -> FlowKey {
    FlowKey {
        src: src.parse().unwrap(),
        dst: dst.parse().unwrap(),
        sport: 40_000,
        dport,
        protocol: 6,
        vlans: Vlans::NONE,
    }
}

#[test]
fn the_deciding_rule_names_the_class() {
    let rules = [
        WatchRule {
            to: place("10.2.0.0/16"),
            ..rule("rack")
        },
        WatchRule {
            to: place("10.2.0.9"),
            dscp: vec![46],
            ..rule("voice")
        },
        WatchRule {
            to_ports: vec!["443".parse().unwrap()],
            protocols: vec![Transport::Tcp],
            priority: 200,
            ..rule("web")
        },
        WatchRule {
            from: place("10.9.0.0/16"),
            priority: 300,
            action: WatchAction::Exclude,
            ..rule("backup")
        },
        WatchRule {
            to: place("2001:db8::/32"),
            priority: 50,
            ..rule("")
        },
    ];
    let cases = [
        ("a prefix", tcp("10.1.0.1", "10.2.3.4", 80), Some("rack")),
        (
            "a longer prefix, whatever its DSCP",
            tcp("10.1.0.1", "10.2.0.9", 80),
            Some("voice"),
        ),
        (
            "a higher priority",
            tcp("10.1.0.1", "10.2.0.9", 443),
            Some("web"),
        ),
        (
            "what is excluded is of no class",
            tcp("10.9.0.1", "10.2.0.9", 443),
            None,
        ),
        (
            "a rule without class",
            tcp("10.1.0.1", "2001:db8::1", 80),
            None,
        ),
        ("no rule", tcp("10.1.0.1", "192.0.2.1", 80), None),
    ];
    let mut classifier = Classifier::new(Classes::new(&rules));
    // What is remembered is the same.
    for _ in 0..2 {
        for (name, flow, class) in cases {
            assert_eq!(classifier.class_of(Some(flow)), class, "{name}");
        }
    }
    assert_eq!(classifier.class_of(None), None, "a report without a flow");
    let mut without = Classifier::new(Classes::new(&rules[4..]));
    assert_eq!(without.class_of(Some(cases[4].1)), None);
}
