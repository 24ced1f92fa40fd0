//! Packets with INT are timed as the flow that INT measures: by its own ports, and not by those of the header in front.

use hostint_testing::netns::{Lab, await_that_or};
use hostint_testing::scratch::TempFile;
use serde_json::Value;

use super::loss_split::await_tagging;
use crate::exchange::exchange_udp;

#[test]
fn packets_with_int_are_known_and_chosen_by_the_flow_that_int_measures() {
    const PORT: u16 = 6000;
    for encap in ["over-tcp-udp", "extension-udp", "vxlan-gpe"] {
        let lab = Lab::new();
        let _sinks = lab.tag(&format!("--encap {encap}"));
        let to = lab.b.udp(&format!("10.9.2.1:{PORT}"));
        let from = await_tagging(&lab, &to);
        let sport = from.local_addr().unwrap().port();
        let rules = TempFile::new(
            "hops.toml",
            format!("[[watch]]\nfor = \"postcards\"\nto-port = {PORT}\n"),
        );
        let line = format!(
            "postcards --hops=watched --dev m0,m1 --json --config {}",
            rules.path()
        );
        let mut daemon = lab.m.start(&line, "hops are reported");
        let before = lab.a.count("source", "tagged");
        exchange_udp(&from, &to, 100, 100);
        assert_eq!(lab.a.count("source", "tagged"), before + 100, "{encap}");
        let told = || -> Vec<Value> {
            let text = daemon.stdout();
            let lines = text.lines().filter_map(|it| serde_json::from_str(it).ok());
            lines
                .filter(|line: &Value| line["kind"] == "host-hop")
                .collect()
        };
        // A kernel may run no tracing program while some process is interrupted.
        let most = |line: &Value| line["packets"].as_u64().unwrap() >= 90;
        await_that_or(
            || told().last().is_some_and(most),
            || format!("{encap}: {}", daemon.stdout()),
        );
        for line in told() {
            let flow = &line["flow"];
            assert_eq!(flow["src"], "10.9.1.1", "{encap}: {line}");
            assert_eq!(flow["sport"], sport, "{encap}: {line}");
            assert_eq!(flow["dport"], PORT, "{encap}: {line}");
            assert_eq!(line.get("flow_before_nat"), None, "{encap}: {line}");
            assert_eq!(line.get("tunnel"), None, "{encap}: {line}");
        }
        assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    }
}
