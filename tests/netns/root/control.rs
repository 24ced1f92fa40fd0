//! The control socket of a real daemon: permissions, and clients that misbehave.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Output;

use hostint_testing::netns::{Daemon, Host, Lab, await_that};
use hostint_testing::places;
use nix::libc;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::exchange::exchange_udp;

const GROUP: u32 = 54_321;

/// A host whose /etc/group has the group hostint, a sink on it, and a copy of the program for everybody.
struct RuleHost {
    lab: Lab,
    sink: Daemon,
    folder: PathBuf,
}

impl RuleHost {
    fn new() -> Self {
        let lab = Lab::new();
        let folder = std::env::temp_dir().join(&lab.b.ns);
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::copy(places::hostint(), folder.join("hostint")).unwrap();
        // What ip netns exec mounts over /etc.
        let etc = etc_of(&lab.b);
        std::fs::create_dir_all(&etc).unwrap();
        let groups = format!("root:x:0:\nhostint:x:{GROUP}:\n");
        std::fs::write(etc.join("group"), groups).unwrap();
        let sink = start(&lab.b, &folder);
        Self { lab, sink, folder }
    }

    fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    /// hostint status as a user of these groups.
    fn status(&self, groups: &str, flags: &str) -> Output {
        let (program, socket) = (self.folder.join("hostint"), self.socket());
        let mut args = vec!["--reuid=65534", "--regid=65534"];
        let groups = format!("--groups={groups}");
        args.push(if groups.ends_with('=') {
            "--clear-groups"
        } else {
            &groups
        });
        args.extend([program.to_str().unwrap(), "status", "--control"]);
        args.push(socket.to_str().unwrap());
        args.extend(flags.split_whitespace());
        self.lab.b.command("setpriv", &args).output().unwrap()
    }

    fn connect(&self) -> UnixStream {
        UnixStream::connect(self.socket()).unwrap()
    }
}

impl Drop for RuleHost {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        let _ = std::fs::remove_dir_all(etc_of(&self.lab.b));
    }
}

fn etc_of(host: &Host) -> PathBuf {
    Path::new("/etc/netns").join(&host.ns)
}

fn start(host: &Host, folder: &Path) -> Daemon {
    host.sink(&format!(
        "--dev b0 --node-id 2 --control {}/socket",
        folder.display()
    ))
}

/// Sends a line and returns the answer.
fn ask(socket: &mut UnixStream, line: &str) -> Value {
    // What is too long is answered before all of it was sent.
    if let Err(err) = socket.write_all(format!("{line}\n").as_bytes()) {
        assert_eq!(err.kind(), ErrorKind::BrokenPipe, "{line}");
    }
    let mut answer = String::new();
    let mut reader = BufReader::new(&*socket);
    reader.read_line(&mut answer).unwrap();
    serde_json::from_str(&answer).unwrap()
}

/// Runs a closure as a user of this group, in a thread of its own.
fn as_user_of<T: Send>(group: u32, run: impl FnOnce() -> T + Send) -> T {
    let user = 65_534;
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: the list has as many groups as stated; these calls concern this thread only.
            let results = unsafe {
                [
                    libc::syscall(libc::SYS_setgroups, 1, &raw const group),
                    libc::syscall(libc::SYS_setresgid, user, user, user),
                    libc::syscall(libc::SYS_setresuid, user, user, user),
                ]
            };
            assert_eq!(results, [0; 3]);
            run()
        });
        thread.join().unwrap()
    })
}

#[test]
fn members_of_the_group_see_what_root_sees() {
    let place = RuleHost::new();
    let file = std::fs::metadata(place.socket()).unwrap();
    assert_eq!(
        (file.mode() & 0o777, file.uid(), file.gid()),
        (0o660, 0, GROUP)
    );
    let json = place.status(&GROUP.to_string(), "--json");
    assert_eq!(json.status.code(), Some(0), "{json:?}");
    let seen: Value = serde_json::from_slice(&json.stdout).unwrap();
    let roots = place.lab.b.status();
    for part in ["schema", "node_id", "clock"] {
        assert_eq!(seen[part], roots[part]);
    }
    assert_eq!(seen["sink"]["attachments"], roots["sink"]["attachments"]);
    let text = place.status(&GROUP.to_string(), "");
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.starts_with("node id 2\n"), "{text}");
    assert_eq!(place.lab.b.daemon_count("control_refused"), 0);
}

#[test]
fn strangers_are_told_whom_to_ask() {
    let place = RuleHost::new();
    for groups in ["", "65533"] {
        let output = place.status(groups, "");
        assert_eq!(output.status.code(), Some(1));
        let stderr = String::from_utf8(output.stderr).unwrap();
        for words in [
            "cannot read the state of this host: it is for root, and for the group hostint",
            "(try sudo, or usermod -aG hostint USER)",
        ] {
            assert!(stderr.contains(words), "{stderr}");
        }
    }
    // The file's mode is not all that keeps them off: the kernel says who is at the other end.
    std::fs::set_permissions(place.socket(), PermissionsExt::from_mode(0o666)).unwrap();
    let socket = place.socket();
    for (sentence, group, may_ask) in [("a stranger", 65_533, false), ("a member", GROUP, true)] {
        for (line, may) in [
            (r#"{"ask":"status"}"#, may_ask),
            (r#"{"change":"reload"}"#, false),
        ] {
            let answer = as_user_of(group, || {
                let mut client = UnixStream::connect(&socket).unwrap();
                ask(&mut client, line)
            });
            assert_eq!(
                answer["error"].is_null(),
                may,
                "{sentence}: {line}: {answer}"
            );
            assert_eq!(
                answer["status"]["node_id"] == 2,
                may,
                "{sentence}: {answer}"
            );
        }
    }
    assert_eq!(place.lab.b.daemon_count("control_refused"), 3);
}

#[test]
fn what_may_not_be_asked_is_refused_said_and_counted() {
    let place = RuleHost::new();
    let mut client = place.connect();
    for (line, words) in [
        ("nonsense", "a JSON object"),
        (r#"{"ask":"keys"}"#, "cannot be asked for: keys"),
        (
            r#"{"ask":"status","sort":"colour"}"#,
            "cannot be sorted by colour",
        ),
        (r#"{"change":"reload"}"#, "without a config file"),
    ] {
        let answer = ask(&mut client, line);
        assert_eq!(answer["schema"], "hostint.control/1", "{line}");
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains(words), "{line}: {error}");
    }
    let answer = ask(&mut client, r#"{"ask":"status","flows":1}"#);
    assert_eq!(
        answer["status"]["node_id"], 2,
        "it is listened to all the same"
    );
    assert_eq!(place.lab.b.daemon_count("control_refused"), 4);
    // As a member, by the same protocol.
    let socket = place.socket();
    let answer = as_user_of(GROUP, || {
        let mut member = UnixStream::connect(&socket).unwrap();
        ask(&mut member, r#"{"change":"reload"}"#)
    });
    assert_eq!(answer["error"], "only root may change anything");
    assert_eq!(place.lab.b.daemon_count("control_refused"), 5);
    let mut client = place.connect();
    let answer = ask(&mut client, &"x".repeat(5000));
    assert!(answer["error"].as_str().unwrap().contains("too long"));
    assert_eq!(place.lab.b.daemon_count("control_refused"), 6);
    let log = place.sink.stderr();
    assert!(log.contains("control socket: process "), "{log}");
    assert!(log.contains(" of user 0 is refused: "), "{log}");
}

#[test]
fn slow_clients_hold_up_nobody() {
    let place = RuleHost::new();
    let lab = &place.lab;
    // Some say nothing, some ask for much and read nothing.
    let mut clients: Vec<UnixStream> = (0..8).map(|_| place.connect()).collect();
    for client in &mut clients[4..] {
        client.set_nonblocking(true).unwrap();
        for _ in 0..1000 {
            if client
                .write_all(b"{\"ask\":\"status\",\"all\":true}\n")
                .is_err()
            {
                break;
            }
        }
    }
    await_that("no more clients are taken", || {
        lab.b.daemon_count("control_refused") > 0 || {
            drop(place.connect());
            false
        }
    });
    lab.a
        .hostint("source attach --dev a0 --encap over-tcp-udp --force --node-id 1");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    exchange_udp(&from, &to, 50, 400);
    await_that("the daemon works", || {
        lab.b.count("sink", "received") == 50 && lab.b.status()["sink"]["daemon_pid"].is_u64()
    });
    drop(clients);
    await_that("others are served then", || {
        place.status(&GROUP.to_string(), "").status.success()
    });
}

#[test]
fn a_client_for_whom_there_is_no_place_is_told_so() {
    let place = RuleHost::new();
    let _idle: Vec<UnixStream> = (0..8).map(|_| place.connect()).collect();
    await_that("no more clients are taken", || {
        place.lab.b.daemon_count("control_refused") > 0 || {
            drop(place.connect());
            false
        }
    });
    for _ in 0..20 {
        let output = place.status(&GROUP.to_string(), "");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(
            said.contains("the daemon refuses: 8 others are served already"),
            "{said}"
        );
    }
}

#[test]
fn a_socket_that_was_left_behind_is_no_hindrance() {
    let mut place = RuleHost::new();
    place.sink.kill();
    assert!(place.socket().exists());
    let output = place.status(&GROUP.to_string(), "");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("Connection refused"), "{stderr}");
    place.sink = start(&place.lab.b, &place.folder);
    assert!(place.status(&GROUP.to_string(), "").status.success());
    place.sink.signal(Signal::SIGTERM);
    assert_eq!(place.sink.wait(), Some(0));
    assert!(!place.socket().exists(), "it goes with the daemon");
    std::fs::write(place.socket(), "precious").unwrap();
    place.sink = start(&place.lab.b, &place.folder);
    let log = place.sink.stderr();
    assert!(
        log.contains("no control socket") && log.contains("no socket"),
        "{log}"
    );
    assert_eq!(std::fs::read(place.socket()).unwrap(), b"precious");
}

#[test]
fn root_may_ask_for_a_reload() {
    let place = RuleHost::new();
    place.lab.b.hostint("sink detach --now");
    let config = place.folder.join("hostint.toml");
    let write = |node: u32| {
        let text = format!("[sink]\ndev = \"b0\"\nnode-id = {node}\n");
        std::fs::write(&config, text).unwrap();
    };
    write(2);
    let host = &place.lab.b;
    let socket = place.folder.join("reloading");
    let sink = host.start(
        &format!(
            "sink --config {} --control {}",
            config.display(),
            socket.display()
        ),
        "sink attached",
    );
    write(7);
    let mut client = UnixStream::connect(&socket).unwrap();
    let answer = ask(&mut client, r#"{"change":"reload"}"#);
    assert!(answer.get("error").is_none(), "{answer}");
    await_that("the new node id", || host.status()["node_id"] == 7);
    assert!(sink.stderr().contains(" applied: "), "{}", sink.stderr());
}
