//! `hostint run`: all roles of a host from one file, under traffic.

use std::fs;
use std::io::{Read, Write};
use std::net::UdpSocket;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or};

use super::metrics::get;

/// The file of a host, and what is written into it.
pub struct ConfigFile(PathBuf);

impl ConfigFile {
    pub fn new(host: &Host, tables: &str) -> Self {
        let path = std::env::temp_dir().join(format!("{}-agent.toml", host.ns));
        fs::write(&path, tables).unwrap();
        Self(path)
    }

    fn write(&self, tables: &str) {
        fs::write(&self.0, tables).unwrap();
    }

    pub fn shown(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for ConfigFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The processes of an agent, by role.
pub fn processes(agent: &Daemon) -> Vec<(String, i32)> {
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

const OTHERS: &str = "[transit]\ndev = \"b0\"\n[postcards]\ndrops = \"all\"\n[tcp]\n[collect]\nlisten = [\"127.0.0.1:32766\"]\nstore = \"none\"\n";

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
    let questions = Questions::new(&lab);
    await_that("packets of both directions are measured", || {
        questions.ask();
        lab.a.count("sink", "received") > 10 && lab.b.count("sink", "received") > 10
    });
}

#[test]
fn a_role_that_is_killed_is_started_again_and_harms_no_other() {
    let lab = Lab::new();
    let all = format!("{}{OTHERS}", tables("b0", 2, "10.9.1.1"));
    let file = ConfigFile::new(&lab.b, &all);
    let agent = run(&lab.b, &file);
    let roles = ["collect", "postcards", "sink", "tcp", "transit"];
    assert!(
        agent
            .stderr()
            .contains("transit hop attached to b0 (tcx), node id 2"),
        "a host has one node id: {}",
        agent.stderr()
    );
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
    assert_eq!(names(&agent), ["postcards", "sink", "tcp", "transit"]);
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

/// Questions from a to b, each of which has to be answered in time.
struct Questions {
    client: UdpSocket,
    server: UdpSocket,
}

impl Questions {
    fn new(lab: &Lab) -> Self {
        let wait = Some(Duration::from_secs(5));
        let (client, server) = (lab.a.udp("10.9.1.1:0"), lab.b.udp("10.9.2.1:7000"));
        client.set_read_timeout(wait).unwrap();
        server.set_read_timeout(wait).unwrap();
        Self { client, server }
    }

    /// Asks one question; it has to arrive, and so does its answer.
    fn ask(&self) {
        let mut bytes = [0; 100];
        self.client.send_to(b"a question", "10.9.2.1:7000").unwrap();
        let (len, from) = self.server.recv_from(&mut bytes).expect("the question");
        assert_eq!(&bytes[..len], b"a question");
        self.server.send_to(b"an answer", from).unwrap();
        let len = self.client.recv(&mut bytes).expect("the answer");
        assert_eq!(&bytes[..len], b"an answer");
    }
}

#[test]
fn off_ends_all_under_traffic_and_holds_until_on() {
    let lab = Lab::new();
    let other = ConfigFile::new(&lab.a, &tables("a0", 1, "10.9.2.1"));
    let file = ConfigFile::new(&lab.b, &format!("{}{OTHERS}", tables("b0", 2, "10.9.1.1")));
    let _other = run(&lab.a, &other);
    let mut agent = run(&lab.b, &file);
    let questions = Questions::new(&lab);
    let is_measured = || {
        questions.ask();
        lab.a.count("sink", "received") > 10 && lab.b.count("sink", "received") > 10
    };
    await_that("both directions are measured", is_measured);

    let ending = std::thread::spawn({
        let b = lab.b.clone();
        move || b.hostint("off")
    });
    while !ending.is_finished() {
        questions.ask();
    }
    ending.join().unwrap();
    let status = lab.b.try_hostint("status --json");
    assert_eq!(status.status.code(), Some(3), "nothing is attached");
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert!(status["off_since_ns"].as_u64().is_some(), "{status}");
    await_that("nothing but the collector runs", || {
        questions.ask();
        names(&agent) == ["collect"]
    });

    assert_eq!(agent.end(), Some(0));
    let agent = lab.b.start(
        &format!("run --config {}", file.shown()),
        "hostint is off on this host",
    );
    await_that("the next agent heeds it", || names(&agent) == ["collect"]);
    let refused = lab.b.try_hostint("sink --dev b0 --node-id 2");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("try hostint on"), "{said}");

    lab.b.hostint("on");
    await_that("its roles are there again", || {
        questions.ask();
        names(&agent) == ["collect", "postcards", "sink", "tcp", "transit"]
            && lab.b.status()["source"].is_object()
    });
    await_that("both directions are measured again", is_measured);
}

#[test]
fn one_file_fits_both_hosts_although_their_interfaces_have_other_names() {
    let lab = Lab::new();
    let tables = "[sink]\ndev = \"default-route\"\n[source]\ndev = \"default-route\"\n[[watch]]\nto = [\"10.9.0.0/16\"]\n";
    let files = [&lab.a, &lab.b].map(|host| ConfigFile::new(host, tables));
    let _agents = [run(&lab.a, &files[0]), run(&lab.b, &files[1])];
    for (host, dev) in [(&lab.a, "a0"), (&lab.b, "b0")] {
        let status = host.status();
        for role in ["sink", "source"] {
            let attached = &status[role]["attachments"];
            assert_eq!(attached.as_array().unwrap().len(), 1, "{role}: {attached}");
            assert_eq!(attached[0]["dev"], dev, "{role}: {attached}");
        }
    }
    let questions = Questions::new(&lab);
    await_that("both directions are measured", || {
        questions.ask();
        lab.a.count("sink", "received") > 10 && lab.b.count("sink", "received") > 10
    });
}

#[test]
fn words_stand_for_the_interfaces_that_are_there() {
    let lab = Lab::new();
    lab.b.sh("ip link add dull0 type veth peer name dull1; ip link add other0 type dummy 2>/dev/null || true");
    for (word, devs) in [
        ("b0", &["b0"][..]),
        ("default-route", &["b0"]),
        ("dull?", &["dull0", "dull1"]),
        ("b0,du*0", &["b0", "dull0"]),
        ("default-route,b*", &["b0"]),
    ] {
        lab.b
            .hostint(&format!("transit attach --dev {word} --node-id 2"));
        let status = lab.b.status();
        let attached = status["transit"]["interfaces"].as_array().unwrap();
        let mut found: Vec<&str> = attached
            .iter()
            .filter_map(|one| one["dev"].as_str())
            .collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, devs, "{word}");
        lab.b.hostint("transit detach");
    }
    for (word, said) in [
        ("eno*", "no interface has such a name now"),
        ("default-route", "has no default route"),
    ] {
        if word == "default-route" {
            lab.b.sh("ip route del default");
        }
        let output = lab
            .b
            .try_hostint(&format!("transit attach --dev {word} --node-id 2"));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && stderr.contains(said),
            "{word}: {stderr}"
        );
    }
}

#[test]
fn one_address_has_the_metrics_of_all_roles_and_says_which_is_not_well() {
    let lab = Lab::new();
    let all = format!(
        "[run]\nhttp = \"127.0.0.1\"\n{}{OTHERS}",
        tables("b0", 2, "10.9.1.1")
    );
    let file = ConfigFile::new(&lab.b, &all);
    let agent = run(&lab.b, &file);
    let page = || get(&lab.b, 13275, "/metrics").1;
    for of in [
        "hostint_sink_received_total",
        "hostint_collect_datagrams_total",
        "hostint_tcp_",
        "hostint_transit_",
    ] {
        await_that(of, || page().contains(of));
    }
    assert_eq!(page().matches("# TYPE hostint_build_info ").count(), 1);
    await_that("all are well", || {
        get(&lab.b, 13275, "/readyz") == (200, "ok\n".to_owned())
    });

    let tcp = Pid::from_raw(process(&agent, "tcp").unwrap());
    kill(tcp, Signal::SIGKILL).unwrap();
    await_that("health says which role it is", || {
        let (code, said) = get(&lab.b, 13275, "/readyz");
        code == 503 && said.starts_with("tcp ") && said.lines().count() == 1
    });
    await_that("it is well again", || {
        get(&lab.b, 13275, "/readyz").0 == 200
    });
    await_that("and has metrics again", || {
        page().contains("hostint_role_runs{role=\"tcp\"} 1\n")
    });

    let name = format!("hostint-agent-{}-sink", agent.pid());
    let address = SocketAddr::from_abstract_name(name).unwrap();
    let stranger = lab.b.enter(|| UnixStream::connect_addr(&address));
    let mut stranger = stranger.unwrap();
    let _ = stranger.write_all(b"GET /metrics HTTP/1.0\r\n\r\n");
    let mut answer = Vec::new();
    let _ = stranger.read_to_end(&mut answer);
    assert!(answer.is_empty(), "a role answers nobody but its agent");
    lab.b.sh("ip link set b0 down && ip link del b0");
    await_that("what a role lacks is health's, too", || {
        let (code, said) = get(&lab.b, 13275, "/readyz");
        code == 503 && said.contains("sink: ")
    });
}
