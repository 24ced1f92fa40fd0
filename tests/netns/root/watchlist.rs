//! Watchlist rules of the config file decide about real traffic.

use hostint::datapath::kernel::pins::Pins;
use hostint::datapath::watch::Watchlist;
use hostint_testing::netns::{Lab, await_that};
use nix::libc;

use crate::exchange::{exchange_tcp, exchange_udp, set_option};

const RULES: &str = r#"
[source]
dev = "a0"
encap = "over-tcp-udp"

[[watch]]
class = "web"
to = "10.9.2.1"
protocol = "tcp"
to-port = [80, "8000-8099"]
static = true

[[watch]]
class = "voice"
dscp = 46
to = "10.9.2.0/24"
static = true

[[watch]]
action = "exclude"
priority = 200
from-port = 5004
"#;

#[test]
fn rules_of_the_file_choose_by_port_protocol_dscp_and_sender() {
    let lab = Lab::new();
    let config = std::env::temp_dir().join(format!("{}-watch.toml", lab.a.ns));
    std::fs::write(&config, RULES).unwrap();
    let _a = lab.a.sink("--dev a0 --node-id 1");
    // The sink's rules are about the same flows.
    let log = config.with_extension("jsonl");
    let (file, lines) = (config.display(), log.display());
    let _b = lab.b.sink(&format!(
        "--dev b0 --node-id 2 --config {file} --report-log {lines} --log-format json"
    ));
    lab.a.hostint(&format!("source attach --config {file}"));
    std::fs::remove_file(&config).unwrap();
    let tagged = || lab.a.count("source", "tagged");

    let to = lab.b.udp("10.9.2.1:6000");
    let plain = lab.a.udp("10.9.1.1:5000");
    exchange_udp(&plain, &to, 10, 500);
    assert_eq!(tagged(), 0, "no rule is about it");

    let marked = |port: u16| {
        let socket = lab.a.udp(&format!("10.9.1.1:{port}"));
        set_option(&socket, libc::IPPROTO_IP, libc::IP_TOS, 46_i32 << 2);
        socket
    };
    exchange_udp(&marked(5001), &to, 10, 500);
    assert_eq!(tagged(), 10, "DSCP 46 is voice");
    exchange_udp(&marked(5004), &to, 10, 500);
    assert_eq!(tagged(), 10, "port 5004 is excluded by a higher priority");
    assert_eq!(lab.a.count("source", "excluded"), 10);

    exchange_tcp(&lab.a, &lab.b, 8100, 100_000);
    assert_eq!(tagged(), 10, "8100 is beyond the ports of web");
    exchange_tcp(&lab.a, &lab.b, 8099, 100_000);
    assert!(tagged() > 20, "8099 is web: {}", tagged());
    assert_eq!(
        lab.a.count("source", "tagged"),
        lab.b.count("sink", "received")
    );
    let logged = || std::fs::read_to_string(&log).unwrap();
    for class in ["\"class\":\"voice\"", "\"class\":\"web\""] {
        await_that(&format!("a report has {class}"), || {
            logged().contains(class)
        });
    }
    std::fs::remove_file(&log).unwrap();
}

#[test]
fn a_list_that_outgrew_its_tables_gets_larger_ones_when_the_source_is_attached_again() {
    let lab = Lab::new();
    let config = std::env::temp_dir().join(format!("{}-many.toml", lab.a.ns));
    let write = |prefixes: u32| {
        let to: Vec<String> = (0..prefixes)
            .map(|n| format!("\"10.{}.{}.1\"", 100 + n / 250, n % 250))
            .collect();
        let (source, to) = (
            "[source]\ndev = \"a0\"\nencap = \"over-tcp-udp\"",
            to.join(", "),
        );
        std::fs::write(&config, format!("{source}\n[[watch]]\nto = [{to}]\n")).unwrap();
    };
    let list = || {
        lab.a.enter(|| {
            let pins = Pins::of_this_host(None, false).unwrap().unwrap();
            Watchlist::open(&pins).unwrap().unwrap()
        })
    };
    let prefixes = || {
        list()
            .rules()
            .unwrap()
            .iter()
            .map(|rule| rule.to.len())
            .sum::<usize>()
    };
    let attach = format!("source attach --config {}", config.display());
    let _a = lab.a.sink("--dev a0 --node-id 1");
    let _b = lab.b.sink("--dev b0 --node-id 2 --allow 10.9.1.0/24");
    write(10);
    lab.a.hostint(&attach);
    lab.a.hostint("source add-dest --static 10.9.2.1");
    assert_eq!((prefixes(), list().nodes.capacity()), (11, 2 * 4096));
    let serial = list().serial().unwrap();
    write(5000);
    let (small, refused) = (list(), lab.a.hostint(&attach));
    assert!(refused.is_empty(), "{refused}");
    assert_eq!((prefixes(), list().nodes.capacity()), (5001, 2 * 16_384));
    assert_ne!(list().serial().unwrap(), serial);
    let err = small.replace(&list().rules().unwrap()).unwrap_err();
    assert!(
        err.to_string().contains("made for 4096 (restart hostint"),
        "{err}"
    );
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    exchange_udp(&from, &to, 10, 500);
    assert_eq!(
        lab.a.count("source", "tagged"),
        10,
        "the program has the new tables"
    );
    std::fs::remove_file(&config).unwrap();
}
