//! Every mistake in a config file is reported with its line, and flags win over environment, file and default in this
//! order.

use std::path::Path;
use std::process::{Command, Output};

use clap::CommandFactory;
use hostint::cli::Cli;
use hostint::config::{COLLECT, File, MAX_RULES, keys, variable};
use hostint::model::{PortRange, RuleHost, Transport, WatchAction, WatchPurpose, WatchRule};
use hostint_testing::places;
use hostint_testing::scratch::TempFile;
use serde_json::Value;

/// All mistakes of a text, a line each.
pub fn mistakes(bytes: &[u8]) -> (File, Vec<String>) {
    let (file, mut mistakes) = File::parse(Path::new("F"), bytes);
    file.check_tables(&mut mistakes);
    let lines = mistakes.iter().map(ToString::to_string).collect();
    (file, lines)
}

#[test]
fn every_mistake_is_said_with_its_line_and_what_to_do() {
    for case in include_str!("mistakes.txt").trim().split("\n\n") {
        let (name, rest) = case.split_once('\n').unwrap();
        let (says, file): (Vec<&str>, Vec<&str>) =
            rest.lines().partition(|line| line.starts_with("> "));
        let says: Vec<String> = says
            .iter()
            .map(|line| line.replacen("> ", "F:", 1))
            .collect();
        let (_, found) = mistakes(file.join("\n").as_bytes());
        assert_eq!(found, says, "{name}:\n{}", file.join("\n"));
    }
}

#[test]
fn what_is_no_text_has_a_line_too() {
    let (_, found) = mistakes(b"[sink]\ndev = \"\xff\"\n");
    assert_eq!(found, ["F:2: the file is not UTF-8 text (expected TOML)"]);
}

#[test]
fn as_many_rules_as_there_is_room_for() {
    let rules = |count: usize| "[[watch]]\nto = \"10.0.0.1\"\n".repeat(count);
    let (file, found) = mistakes(rules(MAX_RULES).as_bytes());
    assert_eq!((file.rules.len(), found.len()), (MAX_RULES, 0));
    let (_, found) = mistakes(rules(MAX_RULES + 1).as_bytes());
    assert_eq!(
        found,
        ["F:32769: [[watch]]: 16385 rules: 16384 are possible"]
    );
}

#[test]
fn a_rule_says_all_that_a_rule_can_say() {
    let text = r#"
[[watch]]
class = "storage"
action = "watch"
priority = 7
from = ["10.1.0.0/16", "host-a"]
to = "2001:db8::1"
protocol = ["tcp", "udp"]
from-port = "1024-65535"
to-port = [443, "8000-8099"]
dscp = [0, 46]
dev = ["eth1"]
static = true
one-flow-in = 10
one-packet-in = 100
always = true

[[watch]]
action = "exclude"
to = "10.0.0.9"
"#;
    let (file, found) = mistakes(text.as_bytes());
    assert_eq!(found, Vec::<String>::new());
    let place = |text: &str, prefix: Option<&str>| RuleHost {
        text: text.to_owned(),
        prefixes: prefix.iter().map(|one| one.parse().unwrap()).collect(),
    };
    let ports = |first, last| PortRange::new(first, last).unwrap();
    let all = WatchRule {
        class: Some("storage".to_owned()),
        action: WatchAction::Watch,
        priority: 7,
        from: vec![
            place("10.1.0.0/16", Some("10.1.0.0/16")),
            place("host-a", None),
        ],
        to: vec![place("2001:db8::1", Some("2001:db8::1"))],
        protocols: vec![Transport::Tcp, Transport::Udp],
        from_ports: vec![ports(1024, 65535)],
        to_ports: vec![ports(443, 443), ports(8000, 8099)],
        dscp: vec![0, 46],
        devs: vec!["eth1".to_owned()],
        fixed: true,
        one_flow_in: 10,
        one_packet_in: 100,
        always: true,
        from_file: true,
    };
    let exclude = WatchRule {
        action: WatchAction::Exclude,
        priority: 100,
        to: vec![place("10.0.0.9", Some("10.0.0.9"))],
        from_file: true,
        ..WatchRule::default()
    };
    let rules = |purpose| File::rules_for(Some(&file), purpose);
    assert_eq!(rules(WatchPurpose::Int), [all.clone(), exclude.clone()]);
    assert_eq!(rules(WatchPurpose::Tcp), [all, exclude]);
    assert_eq!(rules(WatchPurpose::Postcards), []);
}

#[test]
fn a_rule_may_be_for_postcards_and_for_both_ends() {
    let text = r#"
[[watch]]
for = "postcards"
either = ["10.1.0.0/16", "10.2.0.1"]
protocol = "udp"
"#;
    let (file, found) = mistakes(text.as_bytes());
    assert_eq!(found, [""; 0]);
    let rules = |purpose| File::rules_for(Some(&file), purpose);
    let [from, to] = &rules(WatchPurpose::Postcards)[..] else {
        panic!("{:?}", file.rules);
    };
    assert_eq!((from.from.len(), from.to.len()), (2, 0));
    assert_eq!((to.from.len(), to.to.len()), (0, 2));
    assert_eq!(from.from, to.to);
    assert_eq!(from.protocols, to.protocols);
    assert_eq!(rules(WatchPurpose::Int), []);
    assert_eq!(rules(WatchPurpose::Tcp), []);
}

/// Runs hostint with variables and a file; nothing starts, because something is always wrong.
fn refused(command: &str, variables: &[(&str, &str)], file: &str) -> String {
    let file = TempFile::new("config.toml", file);
    let output = Command::new(places::hostint())
        .args(command.split_whitespace())
        .env("HOSTINT_CONFIG", file.path())
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{command}: {output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    said.replace(file.path(), "F")
}

#[test]
fn flags_win_over_the_environment_that_wins_over_the_file() {
    struct Case {
        name: &'static str,
        command: &'static str,
        variables: &'static [(&'static str, &'static str)],
        file: &'static str,
        says: &'static str,
    }
    // The mask makes the value that counts a mistake, which names it and where it came from.
    let cases = [
        Case {
            name: "the file alone",
            command: "sink --dev lo --node-id 1",
            variables: &[],
            file: "[sink]\ndscp-value = 2\ndscp-mask = 1\n",
            says: "hostint: F:2: [sink] dscp-value: the DSCP value has bits outside the mask\n",
        },
        Case {
            name: "the environment over the file",
            command: "sink --dev lo --node-id 1",
            variables: &[("HOSTINT_DSCP_VALUE", "2")],
            file: "[sink]\ndscp-value = 1\ndscp-mask = 1\n",
            says: "hostint: F:3: [sink] dscp-mask: the DSCP value has bits outside the mask; \
                   HOSTINT_DSCP_VALUE is from the environment\n",
        },
        Case {
            name: "a flag over both",
            command: "sink --dev lo --node-id 1 --dscp-value 4",
            variables: &[("HOSTINT_DSCP_VALUE", "1")],
            file: "[sink]\ndscp-value = 1\ndscp-mask = 3\n",
            says: "hostint: F:3: [sink] dscp-mask: the DSCP value has bits outside the mask; \
                   --dscp-value is from the command line\n",
        },
        Case {
            name: "without a file the flag is named",
            command: "sink --dev lo --node-id 1 --dscp-mask 0",
            variables: &[],
            file: "",
            says: "hostint: --dscp-mask: a DSCP mask of 0 would mark every packet\n",
        },
        Case {
            name: "or the variable",
            command: "sink --dev lo --node-id 1",
            variables: &[("HOSTINT_LATENCY_BUCKETS", "5us,1us")],
            file: "",
            says: "hostint: HOSTINT_LATENCY_BUCKETS: latency bucket edges must ascend, but 1us comes after 5us\n",
        },
        Case {
            name: "a list of the environment replaces that of the file",
            command: "sink --node-id 1",
            variables: &[("HOSTINT_COLLECTOR", "10.0.0.1:0"), ("HOSTINT_DEV", "lo")],
            file: "[sink]\ncollector = [\"10.0.0.9:0\", \"10.0.0.8:0\"]\n",
            says: "hostint: HOSTINT_COLLECTOR: cannot use collector 10.0.0.1:0: reports cannot be sent to port 0\n",
        },
        Case {
            name: "a default stays where nobody says anything",
            command: "source attach --dev lo --mtu 130",
            variables: &[],
            file: "[source]\nencap = \"extension-udp\"\n",
            says: "hostint: F:2: [source] encap: an MTU of 130 leaves no room for packets with INT \
                   (expected at least 156); --mtu is from the command line\n",
        },
        Case {
            name: "a flag can mend what the file leaves wrong, not what is wrong in itself",
            command: "source attach --dev lo --mtu 1500 --superpackets skip",
            variables: &[],
            file: "[source]\nmtu = 120\nsuperpackets = \"encap\"\nhook = \"no\"\n",
            says: "hostint: F:4: [source] hook: unknown value \"no\" (expected tc, tc-ingress or xdp)\n",
        },
        Case {
            name: "tables of other commands are checked too",
            command: "collect --listen 127.0.0.1:0",
            variables: &[],
            file: "[collect]\njson = true\n[sink]\ndscp-mask = 0\n[[watch]]\ndscp = 64\n",
            says: "hostint: F:4: [sink] dscp-mask: a DSCP mask of 0 would mark every packet\n\
                   hostint: F:6: [[watch]] dscp: 64 is out of range (expected 0 to 63)\n",
        },
        Case {
            name: "what nobody gave",
            command: "sink",
            variables: &[],
            file: "[sink]\nstrict = true\n",
            says: "hostint: F: [sink]: no interface given (try --dev eth0)\n",
        },
        Case {
            name: "a variable of this command over that of all",
            command: "sink --dev lo --node-id 1",
            variables: &[
                ("HOSTINT_DSCP_VALUE", "1"),
                ("HOSTINT_SINK_DSCP_VALUE", "2"),
                ("HOSTINT_SOURCE_DSCP_VALUE", "4"),
            ],
            file: "",
            says: "hostint: HOSTINT_SINK_DSCP_VALUE: the DSCP value has bits outside the mask\n",
        },
        Case {
            name: "booleans of the environment",
            command: "source attach --dev lo --encap vxlan-gpe",
            variables: &[("HOSTINT_STATIC", "true")],
            file: "",
            says: "hostint: HOSTINT_STATIC: it needs dest-file, whose destinations it applies to (try --dest-file \
                   FILE)\n",
        },
    ];
    for case in cases {
        let said = refused(case.command, case.variables, case.file);
        assert_eq!(said, case.says, "{}", case.name);
    }
}

#[test]
fn a_variable_that_is_no_value_is_named() {
    let said = refused("source attach --dev lo", &[("HOSTINT_MTU", "much")], "");
    assert!(
        said.contains("invalid value 'much' for '--mtu <BYTES>'"),
        "{said}"
    );
    assert!(
        said.ends_with("The value comes from the environment variable HOSTINT_MTU.\n"),
        "{said}"
    );
    let said = refused(
        "source attach --dev lo --mtu=much",
        &[("HOSTINT_MTU", "1500")],
        "",
    );
    assert!(!said.contains("HOSTINT_MTU"), "{said}");
    let said = refused(
        "source attach --dev lo",
        &[
            ("HOSTINT_SINK_MTU", "1400"),
            ("HOSTINT_SOURCE_MTU", "much"),
            ("HOSTINT_MTU", "1500"),
        ],
        "",
    );
    assert!(
        said.ends_with("The value comes from the environment variable HOSTINT_SOURCE_MTU.\n"),
        "{said}"
    );
    let said = refused("sink", &[("HOSTINT_STRICT", "yes")], "");
    assert!(
        said.contains("HOSTINT_STRICT") && said.contains("true, false"),
        "{said}"
    );
}

#[test]
fn every_setting_has_a_variable_and_a_key() {
    let mut root = Cli::command();
    root.build();
    let not_settings = [
        "all",
        "bpffs",
        "config",
        "count",
        "detach",
        "flow",
        "foreground",
        "help",
        "kind",
        "log-level",
        "node",
        "now",
        "port",
        "read",
        "verbose",
        "version",
    ];
    for (path, table) in [
        (&["sink"][..], "sink"),
        (&["source", "attach"], "source"),
        (&["collect"], "collect"),
    ] {
        let command = path
            .iter()
            .fold(&root, |at, name| at.find_subcommand(name).unwrap());
        let all = keys();
        let (_, keys) = all.iter().find(|(name, _)| *name == table).unwrap();
        let mut settings = 0;
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let name = arg.get_long().unwrap();
            if not_settings.contains(&name) {
                continue;
            }
            settings += 1;
            assert!(keys.iter().any(|key| key == name), "{table}: {name}");
            assert_eq!(
                arg.get_env().unwrap(),
                variable(name).as_str(),
                "{table}: {name}"
            );
            // The variable of one command is never that of another setting.
            let mut prefixes = ["sink-", "source-", "collect-"].iter();
            assert!(!prefixes.any(|prefix| name.starts_with(prefix)), "{name}");
        }
        assert_eq!(settings, keys.len(), "{table}");
    }
}

fn check_config(args: &[&str]) -> Output {
    Command::new(places::hostint())
        .args(["check"])
        .args(args)
        .output()
        .unwrap()
}

#[test]
fn a_file_can_be_checked_without_doing_anything() {
    for (content, summary) in [
        ("", "nothing is set"),
        ("[sink]\nnode-id = 3\n", "sink (no dev: left to flags)"),
        (
            "[sink]\ndev = [\"eth1\", \"eth2\"]\nnode-id = 2\n[source]\ndev = \"eth1\"\n[collect]\n\
             [[watch]]\nto = \"host-r\"\n",
            "sink on eth1 and eth2, source on eth1, collect, 1 rule",
        ),
        ("[collect]\nlisten = \"[::1]:7\"\n", "collect on [::1]:7"),
    ] {
        let file = TempFile::new("config.toml", content);
        let output = check_config(&[file.path()]);
        assert_eq!(output.status.code(), Some(0), "{content}: {output:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said, format!("{}: fine: {summary}\n", file.path()));
        assert!(output.stderr.is_empty());
        let output = check_config(&[file.path(), "--json"]);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["schema"], "hostint.config-check/1");
        assert_eq!(json["mistakes"], Value::Array(Vec::new()));
        assert_eq!(json["summary"], summary);
    }
}

#[test]
fn a_table_without_a_node_id_has_that_of_another() {
    for (content, nodes) in [
        ("[sink]\nnode-id = 2\n[postcards]\n[tcp]\n", [2; 5]),
        ("[source]\n[transit]\nnode-id = 7\n", [7; 5]),
        ("[tcp]\nnode-id = 5\n", [5; 5]),
        // A collector may tell them apart.
        ("[sink]\nnode-id = 2\n[tcp]\nnode-id = 5\n", [2, 2, 2, 2, 5]),
    ] {
        let (file, mistakes) = File::parse(Path::new("F"), content.as_bytes());
        assert!(mistakes.is_empty(), "{content}: {mistakes:?}");
        let found = [
            file.sink.options.node_id,
            file.source.options.node_id,
            file.transit.options.node_id,
            file.postcards.options.node_id,
            file.tcp.options.node_id,
        ];
        assert_eq!(found, nodes.map(Some), "{content}");
        assert!(file.check_one_node().is_empty(), "{content}");
    }
    let (file, _) = File::parse(Path::new("F"), b"[sink]\n[tcp]\n");
    assert_eq!(file.sink.options.node_id.or(file.tcp.options.node_id), None);
}

#[test]
fn a_wrong_file_is_2_and_all_mistakes_are_said() {
    let file = TempFile::new(
        "config.toml",
        "[sink]\ndscp-mask = 0\nstrikt = true\n[[watch]\n",
    );
    let output = check_config(&[file.path()]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        said.replace(file.path(), "F"),
        "F:2: [sink] dscp-mask: a DSCP mask of 0 would mark every packet\n\
         F:3: [sink] strikt: unknown key (did you mean strict?)\n\
         F:4:9: unclosed array table, expected `]`\n"
    );
    let output = check_config(&[file.path(), "--json"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["file"], file.path());
    assert_eq!(json["mistakes"][1]["line"], 3);
    assert_eq!(json["mistakes"][1]["key"], "strikt");
    assert_eq!(
        json["mistakes"][1]["message"],
        "unknown key (did you mean strict?)"
    );
    assert!(json.get("summary").is_none());
    let output = check_config(&["/nonexistent/hostint.toml"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.starts_with("cannot read config /nonexistent/hostint.toml: No such file")
            && said.contains("(try another --config"),
        "{said}"
    );
    let output = check_config(&["/dev/zero"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        said,
        "cannot read config /dev/zero: it is longer than 16 MiB\n"
    );
}

#[test]
fn an_mtu_leaves_the_room_that_the_programs_need() {
    use hostint::config::{CommandSettings, IntDscpOption, SourceOptions, Superpackets};
    use hostint::datapath::source::source_settings;
    use hostint::model::Encapsulation;

    for encap in Encapsulation::ALL {
        for superpackets in [
            Superpackets::Encap,
            Superpackets::EncapAll,
            Superpackets::Stage,
            Superpackets::NoGso,
            Superpackets::Skip,
        ] {
            let options = SourceOptions {
                dev: vec!["lo".to_owned()],
                encap: Some(encap.into()),
                superpackets: Some(superpackets),
                int_dscp: IntDscpOption {
                    int_dscp: (encap == Encapsulation::IntMd).then(|| "0x17".to_owned()),
                },
                ..SourceOptions::default()
            };
            let setup = CommandSettings::check(options).unwrap();
            let (ipv4, _) = source_settings::room(&setup.source);
            assert_eq!(
                hostint::config::room(encap.into(), superpackets),
                ipv4,
                "{encap} {superpackets:?}"
            );
        }
    }
}

#[test]
fn secrets_of_another_command_are_its_own_business() {
    let reports = TempFile::new("config.toml", "");
    let run = |args: &[&str]| Command::new(places::hostint()).args(args).output().unwrap();
    for (sentence, table, key) in [
        ("a sink's lease key", "sink", "lease-key"),
        ("a source's lease key", "source", "lease-key"),
        ("a sink's headers", "sink", "push-headers-file"),
    ] {
        let otlp = match key {
            "push-headers-file" => "otlp = \"http://192.0.2.1\"\n",
            _ => "",
        };
        let file = TempFile::new(
            "config.toml",
            format!("[collect]\nstore = \"none\"\n[{table}]\n{otlp}{key} = \"/nowhere/secret\"\n"),
        );
        let read = run(&["collect", "--config", file.path(), "--read", reports.path()]);
        assert_eq!(read.status.code(), Some(0), "{sentence}: {read:?}");
        let check = run(&["check", file.path()]);
        assert_eq!(check.status.code(), Some(2), "{sentence}: {check:?}");
        let says =
            String::from_utf8(check.stderr).unwrap() + &String::from_utf8_lossy(&check.stdout);
        assert!(says.contains("/nowhere/secret"), "{sentence}: {says}");
    }
}

#[test]
fn a_reload_tells_the_keys_of_a_collector_that_it_applies() {
    let file = |keys: &str| mistakes(format!("[collect]\n{keys}").as_bytes()).0;
    let before = file("");
    for (sentence, keys, said) in [
        (
            "a name",
            "name = [\"9=nine\"]\n",
            vec!["[collect] name".to_owned()],
        ),
        ("what holds from its start on", "json = true\n", vec![]),
    ] {
        let changes = file(keys).changes(&before, &[COLLECT], |_| false);
        assert_eq!(changes, said, "{sentence}");
    }
}
