//! Shells ask the binary for candidates: commands, flags, and values that only this host and its history know.

use std::process::Command;

use hostint_testing::harness::text;
use hostint_testing::places;
use hostint_testing::report_samples as samples;
use hostint_testing::scratch::Folder;

/// The candidates for the last of these words, of a host with this folder of state.
fn candidates(shell: &str, words: &[&str], state: &Folder) -> Vec<String> {
    let output = Command::new(places::hostint())
        .arg("--")
        .args(words)
        .env("HOSTINT_COMPLETE", shell)
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string())
        .env("STATE_DIRECTORY", state.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{words:?}");
    assert_eq!(text(&output.stderr), "", "{words:?}");
    let lines = text(&output.stdout);
    let value = |line: &str| line.split(['\t', ':']).next().unwrap().to_owned();
    lines.lines().map(value).collect()
}

/// A history with nodes and a class.
fn history(state: &Folder) {
    let mut lines = Vec::new();
    for mut record in samples::all() {
        // As if it had come just now: the time when a report was made is that of its sample.
        record.received_ns = Some(hostint::os::clock::realtime_ns());
        record.append_line(&mut lines).unwrap();
    }
    let (read, store) = (state.file("lines.jsonl"), state.file("history.db"));
    std::fs::write(&read, lines).unwrap();
    let mut collect = Command::new(places::hostint());
    collect.args(["collect", "--json", "--read"]).arg(&read);
    let output = collect.arg("--store").arg(&store).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn values_come_from_this_host_and_its_history() {
    let state = Folder::create();
    history(&state);
    for shell in ["bash", "zsh", "fish"] {
        for (words, expected) in [
            (&["hostint", "hist"][..], "history"),
            (&["hostint", "sink", "--"], "--collector"),
            (&["hostint", "sink", "--dev", ""], "default-route"),
            (&["hostint", "collect", "--kind", "late"], "latency"),
            (&["hostint", "history", "path", "--from", ""], "2"),
            (&["hostint", "doctor", ""], "2"),
            (&["hostint", "history", "flows", "--class", ""], "storage"),
        ] {
            let found = candidates(shell, words, &state);
            let is_there = found.iter().any(|one| one == expected);
            assert!(is_there, "{shell}: {words:?}: {found:?}");
        }
    }
}

#[test]
fn a_shell_reads_a_line_that_asks_the_binary() {
    for (shell, part) in [
        ("bash", "complete -o nospace"),
        ("zsh", "_clap_dynamic_completer_hostint \"$@\""),
        ("fish", "complete --keep-order"),
    ] {
        let output = hostint_testing::harness::hostint(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        assert!(text(&output.stdout).contains(part), "{shell}");
    }
    let folder = std::path::Path::new(places::hostint()).parent().unwrap();
    let line = "source <(hostint completions bash); COMP_WORDS=(hostint check --h); COMP_CWORD=2; COMP_TYPE=9; \
                _clap_complete_hostint hostint --h check; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = Command::new("bash")
        .args(["-c", line])
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .output()
        .unwrap();
    let found = text(&output.stdout);
    assert!(found.contains("--here"), "{found}{}", text(&output.stderr));
}
