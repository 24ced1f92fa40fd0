//! `hostint status` shows the TCP connections of a host while they are watched, and says before whether they can be.

use std::net::{TcpListener, TcpStream};

use hostint_testing::netns::{Host, Lab, await_that_or};
use serde_json::Value;

fn status(host: &Host) -> (Option<i32>, Value) {
    let output = host.try_hostint("status --json --flows 0");
    let json = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code(), json)
}

#[test]
fn status_shows_connections_while_they_are_watched() {
    const NOTHING: Option<i32> = Some(3);
    let lab = Lab::new();
    let host = &lab.a;
    assert_eq!(status(host).0, NOTHING);
    let mut daemon = host.start(
        "tcp --collector 10.9.2.1 --node-id 7 --sample-period 200ms",
        "connections are watched",
    );
    let listener = lab.b.enter(|| TcpListener::bind("10.9.2.1:7001")).unwrap();
    let _client = lab.a.enter(|| TcpStream::connect("10.9.2.1:7001")).unwrap();
    let _server = listener.accept().unwrap();
    await_that_or(
        || status(host).1["tcp"]["open"] == 1,
        || format!("{:#}", status(host).1),
    );
    let (code, found) = status(host);
    assert_eq!(code, Some(0), "{found:#}");
    let tcp = &found["tcp"];
    assert_eq!(tcp["daemon_pid"], daemon.pid(), "{tcp:#}");
    assert_eq!(tcp["node_id"], 7);
    assert_eq!(tcp["collectors"][0], "10.9.2.1:32766");
    assert_eq!(tcp["sample_period_ns"], 200_000_000);
    let text = host.hostint("status");
    for words in ["tcp: daemon runs", "1 connection open", "as node 7"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(status(&lab.b).0, NOTHING, "another namespace has none");
    // Both roles are shown side by side.
    let _postcards = host.start("postcards --drops", "drops are reported");
    let (_, both) = status(host);
    assert!(both["postcards"].is_object() && both["tcp"].is_object());

    assert_eq!(daemon.end(), Some(0));
    let (_, found) = status(host);
    assert!(found["tcp"].is_null(), "a daemon that ended: {found:#}");
}
