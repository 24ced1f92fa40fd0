//! The files that the chart and the role for Ansible give to hosts are right.

use hostint::config::Role;

use super::file::mistakes;

const VALUES: &str = include_str!("../../packaging/helm/hostint/values.yaml");
const DEFAULTS: &str = include_str!("../../packaging/ansible/hostint/defaults/main.yml");

/// The text of YAML below a line that ends with a bar.
fn below(yaml: &str, header: &str) -> String {
    let (_, text) = yaml.split_once(&format!("\n{header} |\n")).unwrap();
    let indent = text.len() - text.trim_start().len();
    let inside =
        |line: &&str| line.trim().is_empty() || line.len() - line.trim_start().len() >= indent;
    let lines = text.lines().take_while(inside);
    lines
        .map(|line| format!("{}\n", line.get(indent..).unwrap_or_default()))
        .collect()
}

#[test]
fn files_of_the_chart_and_of_ansible_make_the_roles_that_they_are_for() {
    let both = [Role::Sink, Role::Source].as_slice();
    let cases = [
        ("agents of the chart", below(VALUES, "config:"), both, 0),
        (
            "agents with the rule that is commented out",
            below(VALUES, "config:")
                .replace('#', "")
                .replace("the nodes' network", ""),
            both,
            1,
        ),
        (
            "the chart's collector",
            below(VALUES, "  config:"),
            &[Role::Collect],
            0,
        ),
        (
            "hosts of Ansible",
            below(DEFAULTS, "hostint_config:").replace("{{ hostint_http_port }}", "13275"),
            both,
            0,
        ),
    ];
    for (sentence, text, roles, rules) in cases {
        let (file, found) = mistakes(text.as_bytes());
        assert_eq!(found, Vec::<String>::new(), "{sentence}:\n{text}");
        assert_eq!(file.roles().unwrap(), roles, "{sentence}");
        assert_eq!(file.rules.len(), rules, "{sentence}");
    }
}
