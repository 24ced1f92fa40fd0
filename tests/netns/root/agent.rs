//! `hostint run`: all roles of a host from one file, under traffic.

use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or};

/// The file of a host, and what is written into it.
struct ConfigFile(PathBuf);

impl ConfigFile {
    fn new(host: &Host, tables: &str) -> Self {
        let path = std::env::temp_dir().join(format!("{}-agent.toml", host.ns));
        fs::write(&path, tables).unwrap();
        Self(path)
    }

    fn write(&self, tables: &str) {
        fs::write(&self.0, tables).unwrap();
    }

    fn shown(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for ConfigFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The processes of an agent, by role.
fn processes(agent: &Daemon) -> Vec<(String, i32)> {
    let task = format!("/proc/{0}/task/{0}/children", agent.pid());
    let children = fs::read_to_string(task).unwrap_or_default();
    let named = children.split_whitespace().filter_map(|pid| {
        let line = fs::read_to_string(Path::new("/proc").join(pid).join("cmdline")).ok()?;
        let role = line.split('\0').nth(1)?.to_owned();
        Some((role, pid.parse().ok()?))
    });
    named.collect()
}

fn process(agent: &Daemon, role: &str) -> Option<i32> {
    let all = processes(agent);
    all.into_iter().find(|one| one.0 == role).map(|one| one.1)
}

fn names(agent: &Daemon) -> Vec<String> {
    let mut names: Vec<String> = processes(agent).into_iter().map(|one| one.0).collect();
    names.sort();
    names
}

/// Both hosts of a lab have the same file but for their interface, and nothing else is typed.
fn tables(dev: &str, node: u32, dest: &str) -> String {
    format!(
        "[sink]\ndev = [\"{dev}\"]\nnode-id = {node}\n[source]\ndev = [\"{dev}\"]\n[[watch]]\nto = [\"{dest}\"]\n"
    )
}

const OTHERS: &str = "[postcards]\ndrops = \"all\"\n[tcp]\n[collect]\nlisten = [\"127.0.0.1:32766\"]\nstore = \"none\"\n";

fn run(host: &Host, file: &ConfigFile) -> Daemon {
    host.start(
        &format!("run --config {}", file.shown()),
        "source is attached",
    )
}

#[test]
fn one_file_and_one_command_a_host_measure_both_directions() {
    let lab = Lab::new();
    let files = [
        ConfigFile::new(&lab.a, &tables("a0", 1, "10.9.2.1")),
        ConfigFile::new(&lab.b, &tables("b0", 2, "10.9.1.1")),
    ];
    let _agents = [run(&lab.a, &files[0]), run(&lab.b, &files[1])];
    let socket = lab.b.udp("10.9.2.1:7000");
    socket
        .set_read_timeout(Some(std::time::Duration::from_secs(5)))
        .unwrap();
    let client = lab.a.udp("10.9.1.1:0");
    await_that("packets of both directions are measured", || {
        client.send_to(b"a question", "10.9.2.1:7000").unwrap();
        let mut bytes = [0; 100];
        let (len, from) = socket.recv_from(&mut bytes).unwrap();
        assert_eq!(&bytes[..len], b"a question");
        socket.send_to(b"an answer", from).unwrap();
        lab.a.count("sink", "received") > 10 && lab.b.count("sink", "received") > 10
    });
}

#[test]
fn a_role_that_is_killed_is_started_again_and_harms_no_other() {
    let lab = Lab::new();
    let all = format!("{}{OTHERS}", tables("b0", 2, "10.9.1.1"));
    let file = ConfigFile::new(&lab.b, &all);
    let agent = run(&lab.b, &file);
    let roles = ["collect", "postcards", "sink", "tcp"];
    assert_eq!(
        names(&agent),
        roles,
        "a source beside a sink has no process"
    );
    for role in roles {
        let others = |all: Vec<(String, i32)>| -> Vec<(String, i32)> {
            all.into_iter().filter(|one| one.0 != role).collect()
        };
        let before = others(processes(&agent));
        let old = process(&agent, role).unwrap();
        kill(Pid::from_raw(old), Signal::SIGKILL).unwrap();
        await_that_or(
            || process(&agent, role).is_some_and(|new| new != old),
            || format!("{role} is not started again: {}", agent.stderr()),
        );
        assert_eq!(others(processes(&agent)), before, "{role}: others go on");
    }
}

#[test]
fn a_reload_changes_nothing_with_a_mistake_and_starts_and_ends_roles_without() {
    let lab = Lab::new();
    let sink = tables("b0", 2, "10.9.1.1");
    let file = ConfigFile::new(&lab.b, &format!("{sink}{OTHERS}"));
    let agent = run(&lab.b, &file);
    let before = processes(&agent);

    file.write(&format!("{sink}[tcp]\nreport-period = \"1x\"\n"));
    agent.signal(Signal::SIGHUP);
    await_that("the mistake is told with its line", || {
        agent.stderr().contains(":9: [tcp] report-period")
    });
    assert_eq!(processes(&agent), before, "nothing ends");

    file.write(&format!("{sink}[tcp]\n"));
    agent.signal(Signal::SIGHUP);
    await_that("what the file has no more ends", || {
        names(&agent) == ["sink", "tcp"]
    });
    assert!(lab.b.status()["source"].is_object(), "the source stays");

    file.write("[tcp]\n");
    agent.signal(Signal::SIGHUP);
    await_that("the sink ends, and its programs are taken off", || {
        names(&agent) == ["tcp"] && lab.b.try_hostint("sink detach").status.code() == Some(3)
    });
    assert_eq!(
        lab.b.try_hostint("source detach").status.code(),
        Some(3),
        "so are the source's"
    );

    file.write(&format!("{sink}[tcp]\n"));
    agent.signal(Signal::SIGHUP);
    await_that("they are there again", || {
        names(&agent) == ["sink", "tcp"] && lab.b.status()["source"].is_object()
    });
}

#[test]
fn a_file_with_a_mistake_or_without_an_interface_starts_nothing_and_tells_the_line() {
    let lab = Lab::new();
    for (sentence, tables, said) in [
        (
            "a mistake",
            "[tcp]\nreport-period = \"1x\"\n",
            ":2: [tcp] report-period",
        ),
        (
            "no interface",
            "[tcp]\n[sink]\nnode-id = 2\n",
            ":2: [sink]: no interface given",
        ),
        (
            "no role",
            "[names]\n7 = \"web\"\n",
            "gives this host no role",
        ),
    ] {
        let file = ConfigFile::new(&lab.b, tables);
        let output = lab.b.try_hostint(&format!("run --config {}", file.shown()));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{sentence}: {stderr}");
        assert!(stderr.contains(said), "{sentence}: {stderr}");
    }
}

#[test]
fn a_collector_whose_secret_cannot_be_read_keeps_no_other_role_from_its_work() {
    let lab = Lab::new();
    let engine = "otlp = \"http://127.0.0.1:9\"\npush-headers-file = \"/nowhere/secret\"\n";
    let all = format!("{}{OTHERS}{engine}", tables("b0", 2, "10.9.1.1"));
    let file = ConfigFile::new(&lab.b, &all);
    let agent = run(&lab.b, &file);
    await_that("it is refused, and says why", || {
        let said = agent.stderr();
        said.contains("/nowhere/secret") && said.contains("collect is REFUSED")
    });
    assert_eq!(names(&agent), ["postcards", "sink", "tcp"]);
}

#[test]
fn processes_end_with_an_agent_that_is_killed_and_the_next_one_goes_on() {
    let lab = Lab::new();
    let file = ConfigFile::new(&lab.b, &format!("{}{OTHERS}", tables("b0", 2, "10.9.1.1")));
    let mut agent = run(&lab.b, &file);
    let pids: Vec<i32> = processes(&agent).into_iter().map(|one| one.1).collect();
    agent.kill();
    await_that("all processes end", || {
        pids.iter()
            .all(|pid| !Path::new(&format!("/proc/{pid}")).exists())
    });
    assert!(lab.b.status()["sink"].is_object(), "the sink strips");
    let mut agent = run(&lab.b, &file);
    assert_eq!(agent.end(), Some(0), "{}", agent.stderr());
    assert!(lab.b.status()["sink"].is_object(), "what is attached stays");
}
