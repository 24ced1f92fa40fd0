//! Settings of SD-Fabric and int-host-reporter become a config file that means the same, or it is said what does not fit.

use hostint::config::File;
use hostint::config::import::{convert, import};
use hostint_testing::scratch::TempFile;

const NETCFG: &str = r#"{
  "devices": { "device:leaf1": { "basic": { "driver": "stratum-tofino" } } },
  "apps": {
    "org.onosproject.segmentrouting": { "segmentrouting": { "suppressHostByPort": [] } },
    "org.stratumproject.fabric.tna.inbandtelemetry": {
      "report": {
        "collectorIp": "192.0.2.70",
        "collectorPort": 32766,
        "minFlowHopLatencyChangeNs": 300,
        "watchSubnets": [ "198.51.100.0/24", "0.0.0.0/0" ],
        "queueReportLatencyThresholds": {
          "2": { "triggerNs": 5000 },
          "0": { "triggerNs": 2000, "resetNs": 500 }
        }
      }
    }
  }
}"#;

const NETCFG_TOML: &str = r#"# Settings of hostint postcards, made of netcfg.json.
# Switches have all of their ports in this; here a pattern stands for all interfaces.
# Drops are told of all flows: there is no watchlist for them.

[postcards]
drops = "all"
hops = "watched"
dev = ["*"]
collector = ["192.0.2.70:32766"]
report-format = "v0.5-standard"
latency-step = "256ns"

[[queue]]
dev = ["*"]
queue = 0
trigger = "2000ns"
reset = "500ns"

[[queue]]
dev = ["*"]
queue = 2
trigger = "5000ns"
reset = "2500ns"

# The reports themselves
[[watch]]
for = ["postcards"]
action = "exclude"
priority = 200
to = ["192.0.2.70"]
protocol = ["udp"]
to-port = ["32766"]

[[watch]]
for = ["postcards"]
either = ["198.51.100.0/24"]

[[watch]]
for = ["postcards"]
either = ["0.0.0.0/0"]
"#;

const WATCHLIST: &str = r#"# Sample of a watchlist
rules:
  - protocol: "UDP"
    src-addr: "192.0.2.50/32"   # one host
    dst-addr: "198.51.100.0/24"

  - protocol: TCP
    src-addr: '0.0.0.0/0'
    dst-addr: 192.0.2.50/32
    dst-port: "443"
"#;

const WATCHLIST_TOML: &str = r#"# Settings of hostint postcards, made of watchlist.yaml.
# Drops are told of all flows: there is no watchlist for them.
# All interfaces are in it; int-host-reporter was told its own by --data-interface.
# Ports count here; int-host-reporter did not look at them.

[postcards]
drops = "all"
hops = "watched"
dev = ["*"]

# The reports themselves
[[watch]]
for = ["postcards"]
action = "exclude"
priority = 200
protocol = ["udp"]
to-port = ["32766"]

[[watch]]
for = ["postcards"]
"#;

const CHART: &str = r#"name: int-host-reporter
image:
  repository: example/int-host-reporter
  tag: "latest"
cni: cilium
dataInterface: enp0s8
intCollector: 192.0.2.50:30001
intWatchlistRules:
- protocol: "UDP"
  srcAddr: "192.0.2.0/24"
  dstAddr: "198.51.100.0/24"
"#;

const CONFIG_MAP: &str = r#"---
apiVersion: v1
kind: ConfigMap
metadata:
  name: int-watchlist
data:
  watchlist.yaml: |
    rules:
    - protocol: "TCP"
      src-addr: "192.0.2.0/24"
      dst-addr: "198.51.100.0/24"
"#;

/// The text as a config file is one that hostint takes.
fn assert_is_fine(toml: &str) {
    let file = TempFile::new("hostint.toml", toml);
    if let Err(mistakes) = File::check(file.path().as_ref()) {
        panic!("{mistakes}\n{toml}");
    }
}

#[test]
fn netcfg_becomes_a_config_file() {
    let toml = convert(NETCFG, "netcfg.json").unwrap();
    assert_eq!(toml, NETCFG_TOML);
    assert_is_fine(&toml);
    // The same as a part of a file of several components.
    let nested = format!("{{\"netcfg\": {NETCFG}}}");
    assert_eq!(convert(&nested, "netcfg.json").unwrap(), NETCFG_TOML);
}

#[test]
fn a_watchlist_becomes_a_config_file() {
    let toml = convert(WATCHLIST, "watchlist.yaml").unwrap();
    let rules = toml
        .strip_prefix(WATCHLIST_TOML)
        .unwrap_or_else(|| panic!("{toml}"));
    for line in [
        "protocol = [\"udp\"]",
        "from = [\"192.0.2.50\"]",
        "to = [\"198.51.100.0/24\"]",
    ] {
        assert!(rules.contains(line), "{line}: {rules}");
    }
    for line in [
        "protocol = [\"tcp\"]",
        "from = [\"0.0.0.0/0\"]",
        "to-port = [\"443\"]",
    ] {
        assert!(rules.contains(line), "{line}: {rules}");
    }
    assert_eq!(
        rules.matches("[[watch]]").count(),
        1,
        "the first header is in front: {rules}"
    );
    assert_is_fine(&toml);
}

#[test]
fn port_0_means_any_port_as_for_int_host_reporter() {
    for (port, keys, remark) in [
        ("443", "to-port = [\"443\"]\n", true),
        ("0-443", "to-port = [\"0-443\"]\n", true),
        ("0", "", false),
        ("00", "", false),
        ("0-0", "", false),
        ("", "", false),
    ] {
        let toml = convert(&WATCHLIST.replace("443", port), "watchlist.yaml").unwrap();
        let ports: String = toml
            .lines()
            .filter(|line| line.contains("-port =") && !line.contains("32766"))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(ports, keys, "port {port:?}");
        assert_eq!(toml.contains("# Ports count here"), remark, "port {port:?}");
        assert_is_fine(&toml);
    }
}

#[test]
fn values_of_the_chart_and_a_config_map_are_read_too() {
    let toml = convert(CHART, "values.yaml").unwrap();
    assert!(
        toml.contains("collector = [\"192.0.2.50:30001\"]"),
        "{toml}"
    );
    assert!(toml.contains("report-format = \"v0.5-standard\""), "{toml}");
    assert!(toml.contains("beside enp0s8"), "{toml}");
    assert!(toml.contains("from = [\"192.0.2.0/24\"]"), "{toml}");
    assert_is_fine(&toml);
    let toml = convert(CONFIG_MAP, "map.yaml").unwrap();
    assert!(toml.contains("protocol = [\"tcp\"]"), "{toml}");
    assert_is_fine(&toml);
}

#[test]
fn what_has_no_counterpart_is_named() {
    let netcfg = |from: &str, to: &str| {
        assert!(NETCFG.contains(from), "{from}");
        NETCFG.replacen(from, to, 1)
    };
    let list = |from: &str, to: &str| {
        assert!(WATCHLIST.contains(from), "{from}");
        WATCHLIST.replacen(from, to, 1)
    };
    let cases = [
        ("", "it is neither ONOS' netcfg"),
        ("{", "no JSON: EOF while parsing"),
        (
            "just a word",
            "line 1: \"just a word\" is no key with a value",
        ),
        ("a: b", "it is neither ONOS' netcfg"),
        (
            &netcfg("\"report\"", "\"other\""),
            "no app in it has \"report\"",
        ),
        (
            &netcfg("\"watchSubnets\"", "\"watchPorts\""),
            "report.watchPorts has no counterpart in hostint",
        ),
        (
            &netcfg("192.0.2.70", "collector"),
            "collectorIp: \"collector\" is no IP address",
        ),
        (&netcfg("32766", "70000"), "collectorPort is no port"),
        (
            &netcfg("198.51.100.0/24", "198.51.100.0/33"),
            "watchSubnets: \"198.51.100.0/33\" is no subnet",
        ),
        (
            &netcfg("\"2\":", "\"two\":"),
            "\"two\" is no number of a queue",
        ),
        (
            &netcfg("\"triggerNs\": 5000", "\"depth\": 5000"),
            ".2.depth has no counterpart",
        ),
        (
            &netcfg("\"resetNs\": 500", "\"resetNs\": 5000"),
            ".0.resetNs is above triggerNs",
        ),
        (
            &netcfg("300", "\"some\""),
            "minFlowHopLatencyChangeNs: \"some\" is no whole number",
        ),
        (
            "{\"apps\": {\"int\": {\"report\": {\"collectorIp\": \"192.0.2.1\"}}}}",
            "there is nothing to import",
        ),
        (
            "{\"apps\": {\"a\": {\"report\": {}}, \"b\": {\"report\": {}}}}",
            "several apps have \"report\": a, b",
        ),
        ("rules: []", "the watchlist is empty"),
        (
            &list("    dst-addr: \"198.51.100.0/24\"\n", ""),
            "rule 1: dst-addr is missing: int-host-reporter finds no packet",
        ),
        (
            &list("  - protocol: TCP\n    src", "  - src"),
            "rule 2: protocol is missing",
        ),
        (
            &list("TCP", "ICMP"),
            "rule 2: protocol: \"ICMP\" is neither TCP nor UDP",
        ),
        (
            &list("443", "https"),
            "rule 2: dst-port: \"https\" is no port",
        ),
        (
            &list("192.0.2.50/32\"", "192.0.2.50/64\""),
            "rule 1: src-addr: \"192.0.2.50/64\" is no prefix",
        ),
        (&list("dst-port", "vni"), "rule 2: vni has no counterpart"),
        (
            &list("'0.0.0.0/0'", "*anywhere"),
            "line 8: \"*anywhere\" is YAML that is not read here",
        ),
        (
            &list("'0.0.0.0/0'", "'0.0.0.0/0"),
            "line 8: '0.0.0.0/0 is not closed where it ends",
        ),
        (
            &list("    src-addr: '0", "     src-addr: '0"),
            "line 8: indented more than expected",
        ),
        (
            &list("    src-addr: '0", "\tsrc-addr: '0"),
            "line 8: YAML is indented by spaces",
        ),
        (
            &list("    dst-port", "    src-addr: 192.0.2.1/32\n    dst-port"),
            "line 10: src-addr is given twice",
        ),
    ];
    for (text, why) in cases {
        match convert(text, "it") {
            Err(told) => assert!(told.contains(why), "expected {why:?}, found {told:?}"),
            Ok(toml) => panic!("expected {why:?}, found:\n{toml}"),
        }
    }
    let told = import("/nowhere/it.yaml".as_ref()).unwrap_err().to_string();
    assert!(told.contains("cannot import /nowhere/it.yaml: "), "{told}");
}

#[test]
fn no_text_is_too_much() {
    // Cut anywhere, with a line moved, and deeper than anybody writes.
    for sample in [NETCFG, WATCHLIST, CHART, CONFIG_MAP] {
        for len in 0..sample.len() {
            let _ = convert(&sample[..len], "it");
            let _ = convert(
                &format!("{}\n- - a: - b:\n{}", &sample[..len], &sample[len..]),
                "it",
            );
        }
    }
    let deep: String = (0..5000)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    assert!(convert(&deep, "it").unwrap_err().contains("too deep"));
    let deep: String = (0..5000).map(|_| "- a:\n").collect();
    assert!(convert(&format!("rules:\n{deep}"), "it").is_err());
    assert!(convert(&"[".repeat(100_000), "it").is_err());
    assert!(convert(&format!("rules: {}", "[".repeat(100_000)), "it").is_err());
}
