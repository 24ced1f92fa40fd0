//! Manual pages match the definition of the command line.
//!
//! `HOSTINT_BLESS=1 cargo test --test cli manpages` (or `make man`) writes them anew.

use std::path::{Path, PathBuf};

use clap::{ArgAction, Command, CommandFactory};
use clap_mangen::Man;
use hostint::cli::Cli;
use hostint::model::{KERNEL_PARTS, PartFacts, Without};

use crate::page_options::{
    only, options_of_all_below, said_in, without, without_common, without_options_of,
};

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|err| panic!("{path}: {err}"))
}

/// What is written by hand for a page: the rest of the description, and what comes behind the options.
fn sections(page: &str) -> (String, String) {
    let text = read(&format!("man/sections/{page}.roff"));
    let (description, rest) = text.split_once(".\\\" behind the options\n").unwrap();
    (description.to_owned(), rest.to_owned())
}

/// Where options of all commands are.
const REFERENCE: &str =
    "\\-\\-log\\-level, \\-\\-bpffs and others of all commands are in\n.BR hostint (8).\n";

fn usage(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or("hostint");
    let required: String = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !arg.is_positional() && arg.is_required_set())
        .map(|arg| {
            format!(
                "--{} {} ",
                arg.get_long().unwrap(),
                arg.get_value_names().unwrap()[0]
            )
        })
        .collect();
    let positional = command.get_positionals().next();
    let positional = positional.map(|arg| format!("{}...", arg.get_value_names().unwrap()[0]));
    let subcommand = command.has_subcommands().then(|| {
        let required = command.is_subcommand_required_set();
        if required { "COMMAND" } else { "[COMMAND]" }.to_owned()
    });
    let last = positional.or(subcommand).unwrap_or_default();
    format!("{name} [OPTION]... {required}{last}")
        .trim_end()
        .to_owned()
}

type Section = fn(&Man, &mut dyn std::io::Write) -> std::io::Result<()>;

fn render(man: &Man, section: Section) -> String {
    let mut out = Vec::new();
    section(man, &mut out).unwrap();
    // The preamble defines strings for quotes; once is enough.
    String::from_utf8(out)
        .unwrap()
        .replace(".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n", "")
}

fn man_of(command: Command, name: &str) -> Man {
    let usage = usage(&command);
    Man::new(command.override_usage(usage))
        .title(name)
        .section("8")
        .source(concat!("hostint ", env!("CARGO_PKG_VERSION")))
        .manual("hostint")
}

/// A possible value, and behind a colon what it means.
fn bold_value(value: &str) -> String {
    match value.split_once(": ") {
        Some((value, meaning)) => format!("\\fB{value}\\fR: {meaning}"),
        None => format!("\\fB{value}\\fR"),
    }
}

/// The options of a command, with a subsection for each heading of its help; possible values in running text.
fn options(man: &Man) -> String {
    let text = render(man, Man::render_options_section);
    let (_, options) = text.split_once(".SH OPTIONS\n").unwrap_or(("", &text));
    let (mut out, mut in_values) = (".PD 0\n".to_owned(), false);
    let short = options
        .replace(".br\n\n.br\n\\fIPossible values:\\fR\n.RS 14\n", ".RS 14\n")
        .replace(".SH ", ".SS ");
    let mut values: Vec<&str> = Vec::new();
    let mut lines = short.lines();
    while let Some(line) = lines.next() {
        match line {
            // The name runs in, hanging.
            ".TP" => {
                out += ".HP 2\n";
                out += lines.next().unwrap_or_default();
                out += ":\n";
            }
            ".RS 14" => in_values = true,
            ".RE" => {
                let explained = values.iter().any(|value| value.contains(": "));
                let shown: Vec<String> = values.iter().map(|value| bold_value(value)).collect();
                out.truncate(out.trim_end().len());
                out += ";\n";
                out += &shown.join(if explained { ";\n" } else { ",\n" });
                out += "\n";
                (in_values, values) = (false, Vec::new());
            }
            ".IP \\(bu 2" if in_values => (),
            value if in_values => values.push(value),
            other => {
                out += other;
                out += "\n";
            }
        }
    }
    out + ".PD\n"
}

/// The keys of a daemon's table, by the headings of its help: * marks a list, ? a switch.
fn keys_of_table(table: &str, root: &Command) -> String {
    let mut command = root.find_subcommand(table).unwrap();
    if table == "source" {
        command = command.find_subcommand("attach").unwrap();
    }
    let tables = hostint::config::keys();
    let (_, keys) = tables.iter().find(|(name, _)| *name == table).unwrap();
    let mut headings: Vec<(&str, Vec<String>)> = Vec::new();
    for key in keys {
        let arg = command
            .get_arguments()
            .find(|arg| arg.get_long() == Some(key))
            .unwrap_or_else(|| panic!("[{table}] {key} has no flag"));
        let values = arg.get_value_names().unwrap_or_default();
        let list = matches!(arg.get_action(), ArgAction::Append);
        let mark = match () {
            () if list => "*",
            () if values.iter().any(|name| name == "BOOL") => "?",
            () => "",
        };
        let shown = format!("{}{mark}", key.replace('-', "\\-"));
        let heading = arg.get_help_heading().unwrap();
        match headings.iter_mut().find(|(name, _)| *name == heading) {
            Some((_, keys)) => keys.push(shown),
            None => headings.push((heading, vec![shown])),
        }
    }
    let rows = headings
        .iter()
        .map(|(heading, keys)| format!(".HP 2\n{heading}:\n{}\n", keys.join(", ")));
    format!(".PD 0\n{}.PD\n.PP\n", rows.collect::<String>())
}

/// The page of the config file, whose lists of keys are made from the flags; all else is written by hand.
fn config_page(root: &Command) -> String {
    let (mut out, mut in_keys) = (String::new(), false);
    for line in read("man/hostint.toml.5").lines() {
        if line == ".\\\" behind the keys" {
            in_keys = false;
        }
        if !in_keys {
            out += line;
            out += "\n";
        }
        if let Some(table) = line.strip_prefix(".\\\" keys of ") {
            in_keys = true;
            out += &keys_of_table(table, root);
        }
    }
    out
}

/// A command without the options that the page of sinks has, and the sentence that refers to it.
fn without_those_of_sinks(root: &Command, command: &Command) -> (Command, String) {
    let sink = root.find_subcommand("sink").unwrap();
    let ids = match command.get_name() {
        "sink" | "hostint" => Vec::new(),
        _ => said_in(sink, &without_common(command.clone())),
    };
    let flags: Vec<String> = command
        .get_arguments()
        .filter(|arg| ids.contains(&arg.get_id().to_string()))
        .map(|arg| format!("\\-\\-{}", arg.get_long().unwrap().replace('-', "\\-")))
        .collect();
    let mut left = without(&ids, command.clone());
    let below: Vec<String> = left
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned())
        .collect();
    for name in below {
        left = left.mut_subcommand(name, |sub| without(&ids, sub));
    }
    let reference = match flags.is_empty() {
        true => String::new(),
        false => format!("In\n.BR hostint\\-sink (8)\nare {}.\n", flags.join(", ")),
    };
    (left, reference)
}

/// The page of one command; commands below it become sections, unless they have pages of their own.
fn page(root: &Command, command: &Command, name: &str, inline: bool) -> String {
    let (command, in_sink) = without_those_of_sinks(root, command);
    let command = &command;
    let shown = if name == "hostint" {
        command.clone()
    } else {
        without_common(command.clone())
    };
    let man = man_of(shown, name);
    let (description, rest) = sections(name);
    let mut out = String::from(".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n");
    out += &render(&man, Man::render_title);
    out += &render(&man, Man::render_name_section);
    out += &render(&man, Man::render_synopsis_section);
    out += ".SH DESCRIPTION\n";
    out += description.strip_prefix(".PP\n").unwrap();
    if inline {
        let own = without_common(command.clone());
        let has_own = own.get_arguments().any(|arg| !arg.is_hide_set());
        out += &format!(".SH OPTIONS\n{REFERENCE}{in_sink}");
        if has_own {
            out += &options(&man_of(own.clone(), name));
        }
        let of_all = match has_own {
            true => Vec::new(),
            false => options_of_all_below(command),
        };
        if let (Some(sub), false) = (command.get_subcommands().next(), of_all.is_empty()) {
            let shown = only(&of_all, without_common(sub.clone()));
            out += "All commands have:\n";
            out += &options(&man_of(shown, name));
        }
        for sub in command
            .get_subcommands()
            .filter(|sub| sub.get_name() != "help")
        {
            let sub = without(&of_all, without_common(sub.clone()));
            let (sub, is_form_of_it) = without_options_of(&own, sub);
            let man = man_of(sub.clone(), name);
            out += &format!(
                ".SH {}\n",
                sub.get_name().to_uppercase().replace('-', "\\-")
            );
            out += &render(&man, Man::render_synopsis_section).replace(".SH SYNOPSIS\n", "");
            out += &render(&man, Man::render_description_section)
                .replace(".SH DESCRIPTION\n", ".br\n");
            if is_form_of_it {
                out += ".PP\nIt has all options of OPTIONS.\n";
            }
            if sub.get_arguments().any(|arg| !arg.is_hide_set()) {
                out += &options(&man);
            }
        }
    } else {
        out += ".SH OPTIONS\n";
        if name != "hostint" {
            out += REFERENCE;
            out += &in_sink;
        }
        out += &options(&man);
        if command.has_subcommands() {
            let pages = render(&man, Man::render_subcommands_section);
            out += &pages
                .replace(".SH SUBCOMMANDS\n", ".SH COMMANDS\n.PD 0\n")
                .replace(
                    ".TP\nhostint\\-help(8)\nPrint this message or the help of the given subcommand(s)\n",
                    ".PD\n",
                )
                .replace(".TP\nhostint", ".HP 2\nhostint")
                .replace("(8)\n", "(8):\n");
        }
    }
    out + &rest.replace(".\\\" the parts of the kernel\n", &kernel_parts())
}

/// The table of what each role asks of the kernel.
fn kernel_parts() -> String {
    let row = |row: &PartFacts| {
        let without = match row.without {
            Without::Replaced(how) => how.to_owned(),
            Without::Missing(figures) => format!("not known: {figures}"),
            Without::CannotRun => "the role cannot run".to_owned(),
        };
        let (name, roles, since) = (row.name, row.roles, row.since);
        let text = format!(".HP 2\n.BR \"{name}\" \" ({roles}; {since}):\"\n{without}.\n");
        text.replace('-', "\\-")
    };
    let rows: String = KERNEL_PARTS.iter().map(row).collect();
    format!(".PD 0\n{rows}.PD\n")
}

/// Every generated page: where it is and what it has to say.
fn generated() -> Vec<(PathBuf, String)> {
    let mut root = Cli::command();
    root.build();
    let mut files = vec![
        (
            PathBuf::from("man/hostint.8"),
            page(&root, &root, "hostint", false),
        ),
        (PathBuf::from("man/hostint.toml.5"), config_page(&root)),
    ];
    for sub in root
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help" && !sub.is_hide_set())
    {
        let name = format!("hostint-{}", sub.get_name());
        let inline = sub.has_subcommands();
        files.push((
            format!("man/{name}.8").into(),
            page(&root, sub, &name, inline),
        ));
    }
    files
}

#[test]
fn man_pages_are_up_to_date() {
    let bless = std::env::var_os("HOSTINT_BLESS").is_some();
    let mut stale = Vec::new();
    for (path, wanted) in generated() {
        let full = repository().join(&path);
        if bless {
            std::fs::write(&full, &wanted).unwrap();
        } else if std::fs::read_to_string(&full).ok().as_ref() != Some(&wanted) {
            stale.push(path);
        }
    }
    assert!(
        stale.is_empty(),
        "not what the definition gives (try: make man): {stale:?}"
    );
}

#[test]
fn pages_refer_to_pages_that_exist() {
    let folder = std::fs::read_dir(repository().join("man")).unwrap();
    for entry in folder {
        let path = entry.unwrap().path();
        let Some(name) = path
            .file_name()
            .and_then(|name| name.to_str())
            .filter(|_| path.is_file())
        else {
            continue;
        };
        let text = read(&format!("man/{name}")).replace("\\-", "-");
        for word in text
            .split_whitespace()
            .filter(|word| word.starts_with("hostint"))
        {
            let word = word.trim_end_matches(['.', ',', ';', ':']);
            if let Some((page, section)) =
                word.strip_suffix(')').and_then(|word| word.split_once('('))
            {
                let file = repository().join(format!("man/{page}.{section}"));
                assert!(file.exists(), "{name} refers to {word}");
            }
        }
    }
}
