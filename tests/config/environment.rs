//! An environment variable that several commands share is read by each command that it suits.

use std::process::Command;

use clap::CommandFactory;
use hostint::cli::Cli;
use hostint::config::variable;
use hostint_testing::places;

/// Values that a setting of a table can have, as far as they are known.
fn values_of(arg: &clap::Arg) -> Vec<String> {
    let mut values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .map(|value| value.get_name().to_owned())
        .collect();
    if arg.get_long() == Some("encap") {
        values
            .extend(["over-tcp-udp", "vxlan-gpe", "extension-udp,over-tcp-udp"].map(String::from));
    }
    values
}

/// Nothing begins: there is no such interface, and nothing to read.
const ENDING: [(&str, &[&str]); 3] = [
    ("sink", &["sink", "--dev=nosuch", "--node-id=1"]),
    (
        "source",
        &["source", "attach", "--dev=nosuch", "--node-id=1"],
    ),
    ("collect", &["collect", "--read=/nonexistent"]),
];

fn settings_of(table: &str) -> clap::Command {
    let root = Cli::command();
    let command = root.find_subcommand(table).unwrap();
    command.find_subcommand("attach").unwrap_or(command).clone()
}

/// The exit code with one variable set: 1 if its value is of use or left alone, 2 if it is a mistake.
fn with_variable(command: &[&str], variable: &str, value: &str) -> Option<i32> {
    let mut started = Command::new(places::hostint());
    let output = started.args(command).env(variable, value).output();
    output.unwrap().status.code()
}

#[test]
fn what_one_command_reads_from_the_environment_stops_no_other() {
    let mut tried = 0;
    for (table, _) in ENDING {
        for arg in settings_of(table).get_arguments() {
            let key = arg.get_long().unwrap();
            let shares = |other: &str| {
                let settings = settings_of(other);
                other != table
                    && settings
                        .get_arguments()
                        .any(|arg| arg.get_long() == Some(key))
            };
            for (other, command) in ENDING.into_iter().filter(|(other, _)| shares(other)) {
                for value in values_of(arg) {
                    tried += 1;
                    let code = with_variable(command, &variable(key), &value);
                    assert_eq!(code, Some(1), "{key} = {value} of {table}, at {other}");
                }
            }
        }
    }
    assert!(tried >= 12, "{tried}");
}

#[test]
fn a_value_for_no_command_is_a_mistake_and_so_is_one_for_this_command_alone() {
    let [(_, sink), (_, source), _] = ENDING;
    for (command, variable, value, code) in [
        (sink, "HOSTINT_HOOK", "tc-ingress", 1),
        (sink, "HOSTINT_HOOK", "nonsense", 2),
        (source, "HOSTINT_HOOK", "nonsense", 2),
        (sink, "HOSTINT_SINK_HOOK", "tc-ingress", 2),
        (source, "HOSTINT_SOURCE_HOOK", "tc-ingress", 1),
        (sink, "HOSTINT_SOURCE_HOOK", "nonsense", 1),
        (source, "HOSTINT_ENCAP", "vxlan-gpe,extension-udp", 1),
        (source, "HOSTINT_ENCAP", "vxlan-gpe,nonsense", 2),
        (source, "HOSTINT_SOURCE_ENCAP", "vxlan-gpe,extension-udp", 2),
    ] {
        let said = with_variable(command, variable, value);
        assert_eq!(said, Some(code), "{variable}={value} at {}", command[0]);
    }
}
