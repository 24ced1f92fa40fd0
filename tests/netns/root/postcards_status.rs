//! `hostint status` shows the postcards of a host while they run, to those who may ask, and says before what they need.

use std::process::Output;

use hostint::control::{UnpinnedRole, role_socket_path};
use hostint_testing::netns::{Host, Lab, await_that_or};
use serde_json::Value;

fn status(host: &Host) -> (Option<i32>, Value) {
    let output = host.try_hostint("status --json --flows 0");
    let json = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code(), json)
}

/// The packets that were dropped at a firewall, as the status tells.
fn refused(host: &Host) -> Option<u64> {
    let (_, status) = status(host);
    let reasons = status["postcards"]["drops"]["reasons"].as_array()?;
    let mut same = reasons
        .iter()
        .filter(|one| one["kernel_reason_name"] == "NETFILTER_DROP");
    same.next()?["packets"].as_u64()
}

fn drop_on_a(lab: &Lab, count: usize) {
    lab.a.sh(
        "nft add table ip lab; nft 'add chain ip lab f { type filter hook output priority 0; }'
         nft add rule ip lab f udp dport 7002 drop",
    );
    let from = lab.a.udp("10.9.1.1:5000");
    for _ in 0..count {
        // The firewall tells the sender, too.
        let _ = from.send_to(&[7; 100], "10.9.2.1:7002");
    }
}

#[test]
fn status_shows_postcards_while_they_run_and_no_others() {
    const NOTHING: Option<i32> = Some(3);
    let lab = Lab::new();
    let host = &lab.a;
    assert_eq!(status(host).0, NOTHING);
    let mut daemon = host.start(
        "postcards --drops --collector 10.9.2.1 --node-id 7",
        "drops are reported",
    );
    drop_on_a(&lab, 12);
    await_that_or(
        || refused(host) == Some(12),
        || format!("{:#}", status(host).1),
    );
    let (code, found) = status(host);
    assert_eq!(code, Some(0), "{found:#}");
    let postcards = &found["postcards"];
    assert_eq!(postcards["daemon_pid"], daemon.pid(), "{postcards:#}");
    assert_eq!(postcards["node_id"], 7);
    assert_eq!(postcards["collectors"][0], "10.9.2.1:32766");
    assert_eq!(postcards["drops"]["netns"], "own");
    assert_eq!(postcards["drops"]["gives_reasons"], true);
    let text = host.hostint("status");
    for words in ["postcards: daemon runs", "12  NETFILTER_DROP", "as node 7"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(status(&lab.b).0, NOTHING, "another namespace has none");

    let beside = host.try_hostint("postcards --drops --once=100ms");
    let said = String::from_utf8_lossy(&beside.stderr).into_owned();
    assert!(beside.status.success(), "{said}");
    assert!(said.contains("another hostint postcards answers"), "{said}");
    assert_eq!(status(host).1["postcards"]["daemon_pid"], daemon.pid());

    daemon.kill();
    assert_eq!(status(host).0, NOTHING, "a daemon that was killed");
    let mut again = host.start("postcards --drops", "drops are reported");
    assert_eq!(status(host).1["postcards"]["daemon_pid"], again.pid());
    assert_eq!(again.end(), Some(0));
    assert_eq!(status(host).0, NOTHING, "a daemon that ended");
}

#[test]
fn a_sink_tells_its_clients_of_postcards_beside_it() {
    let lab = Lab::new();
    let _sink = lab.b.sink("--dev b0 --node-id 2");
    let _daemon = lab.b.start("postcards --drops", "drops are reported");
    // A daemon that does not answer within a second is left out.
    let told = || status(&lab.b).1;
    await_that_or(
        || told()["postcards"]["node_id"] == 2,
        || format!("{:#}", told()),
    );
    assert!(told()["sink"]["daemon_pid"].is_u64());
}

#[test]
fn root_may_ask_and_strangers_may_not() {
    let lab = Lab::new();
    let daemon = lab.a.start("postcards --drops", "drops are reported");
    let socket = lab
        .a
        .enter(|| role_socket_path(UnpinnedRole::Postcards).unwrap());
    let ask = |user: &str| -> Output {
        let binary = lab.a.binary.to_str().unwrap();
        let (uid, gid) = (format!("--reuid={user}"), format!("--regid={user}"));
        let (uid, gid) = (uid.as_str(), gid.as_str());
        let at = socket.to_str().unwrap();
        let args = [
            uid,
            gid,
            "--clear-groups",
            binary,
            "status",
            "--control",
            at,
        ];
        lab.a.command("setpriv", &args).output().unwrap()
    };
    let root = ask("0");
    let said = String::from_utf8_lossy(&root.stdout);
    assert!(said.contains("postcards: daemon runs"), "{said}");
    let stranger = ask("65534");
    let said = String::from_utf8_lossy(&stranger.stdout);
    assert!(!said.contains("postcards: daemon runs"), "{said}");
    let said = String::from_utf8_lossy(&stranger.stderr);
    assert!(said.contains("may ask"), "{said}");
    await_that_or(|| daemon.stderr().contains("may ask"), || daemon.stderr());
}

#[test]
fn preflight_says_what_postcards_find() {
    let lab = Lab::new();
    let output = lab.a.try_hostint("doctor --json");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = found["findings"].as_array().unwrap();
    for (check, words) in [("drops", "seen, with"), ("drop-places", "have names")] {
        let mut same = all.iter().filter(|one| one["check"] == check);
        let one = same.next().unwrap();
        assert_eq!(one["verdict"], "ok", "{one}");
        assert!(one["found"].as_str().unwrap().contains(words), "{one}");
    }
}
