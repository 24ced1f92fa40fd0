//! `hostint demo --recorded`: any user sees six recorded hosts, on the page and by questions to their history.

use std::path::Path;
use std::process::Command;

use hostint_testing::demo::RunningDemo;
use hostint_testing::harness::hostint;
use hostint_testing::places;
use hostint_testing::scratch::Folder;
use nix::sys::signal::Signal;
use serde_json::Value;

fn recorded(args: &[&str]) -> Command {
    let mut command = Command::new(places::hostint());
    command.args(["demo", "--recorded"]).args(args);
    command
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

/// The pair that was made to lose packets has lost most: source, sink and packets lost of each pair.
fn check_pairs(pairs: &[[u64; 3]]) {
    assert_eq!(
        pairs.len(),
        30,
        "each of six hosts to each other one: {pairs:?}"
    );
    let worst = pairs.iter().max_by_key(|[.., lost]| lost);
    assert!(
        matches!(worst, Some([1, 4, lost]) if *lost > 0),
        "{pairs:?}"
    );
}

fn pairs_of(answer: &Value, three: impl Fn(&Value) -> [Option<u64>; 3]) -> Vec<[u64; 3]> {
    let pairs = answer["pairs"].as_array().unwrap();
    let numbers = |pair: &Value| three(pair).map(|number| number.unwrap());
    pairs.iter().map(numbers).collect()
}

/// The pairs in an answer of the page, whose rows have names in front: `source`, `sink`, …, `measured.lost`.
fn pairs_of_page(answer: &Value) -> Vec<[u64; 3]> {
    assert_eq!(answer["row"][4][2], "measured.lost", "{answer}");
    pairs_of(answer, |pair| {
        [&pair[0], &pair[1], &pair[4][2]].map(Value::as_u64)
    })
}

/// The pairs in an answer of `hostint history`.
fn pairs_of_history(answer: &Value) -> Vec<[u64; 3]> {
    pairs_of(answer, |pair| {
        [&pair["source"], &pair["sink"], &pair["measured"]["lost"]].map(Value::as_u64)
    })
}

#[test]
fn it_shows_the_pairs_and_ends_where_there_is_no_terminal() {
    let folder = Folder::create();
    let (status, said, errors) = RunningDemo::start(recorded(&[]), Some(folder.path())).end();
    assert_eq!(status.code(), Some(0), "{said}{errors}");
    for words in ["recorded on 20", "web1", "db3"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(is_empty(folder.path()), "its files go with it");
}

#[test]
fn it_serves_the_page_and_the_history_until_a_signal() {
    let folder = Folder::create();
    let mut demo = RunningDemo::start(recorded(&["--seconds", "600"]), Some(folder.path()));
    let question = demo.await_line("history pairs --store ");
    let (_, store) = question.split_once("--store ").unwrap();
    let store = store.split_whitespace().next().unwrap();
    let answer = hostint(&["history", "pairs", "--json", "--store", store]).stdout;
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    check_pairs(&pairs_of_history(&answer));
    let answer = RunningDemo::ask_page(&demo.page(), "/api/pairs");
    check_pairs(&pairs_of_page(&answer));
    demo.signal(Signal::SIGTERM);
    let (status, said, errors) = demo.end();
    assert_eq!(status.code(), Some(0), "{said}{errors}");
    assert!(is_empty(folder.path()), "its files go with it");
}

#[test]
fn what_a_killed_one_left_goes_with_the_next_one() {
    let folder = Folder::create();
    let mut killed = RunningDemo::start(recorded(&["--seconds", "600"]), Some(folder.path()));
    killed.await_line("http://");
    let mut other = RunningDemo::start(recorded(&["--seconds", "600"]), Some(folder.path()));
    other.await_line("http://");
    killed.signal(Signal::SIGKILL);
    killed.end();
    assert!(!is_empty(folder.path()), "a killed one cleans nothing up");
    let (status, ..) = RunningDemo::start(recorded(&[]), Some(folder.path())).end();
    assert_eq!(status.code(), Some(0));
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 1, "that of the demo that runs stays");
    other.signal(Signal::SIGINT);
    other.end();
    assert!(is_empty(folder.path()), "its files go with it");
}

mod root {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    use hostint_testing::demo::{RunningDemo, binary};

    #[test]
    fn it_needs_no_privileges() {
        let folder = std::env::temp_dir().join(format!("hi{}-0demo", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(&folder, open).unwrap();
        let (_file, mut command) = binary();
        command.args(["demo", "--recorded", "--seconds", "600"]);
        command.uid(65534).gid(65534);
        let mut demo = RunningDemo::start(command, Some(&folder));
        let answer = RunningDemo::ask_page(&demo.page(), "/api/pairs");
        super::check_pairs(&super::pairs_of_page(&answer));
        demo.signal(super::Signal::SIGTERM);
        let (status, said, errors) = demo.end();
        assert_eq!(status.code(), Some(0), "{said}{errors}");
        std::fs::remove_dir(&folder).unwrap();
    }
}
