//! Daemons give up all privileges that they no longer need, and other users run what they may.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use hostint_testing::netns::{Host, Lab, await_that, await_that_or, sh};
use hostint_testing::places;

const NOBODY: u32 = 65534;

/// CAP_NET_ADMIN, CAP_PERFMON and CAP_BPF.
const STEADY: u64 = 1 << 12 | 1 << 38 | 1 << 39;

/// Of each thread of a process: capability sets by name, and whether it may gain others.
fn privileges(pid: u64) -> Vec<BTreeMap<String, u64>> {
    let mut found = Vec::new();
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).unwrap() {
        let status = std::fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
        let facts = status.lines().filter_map(|line| {
            let (name, value) = line.split_once(":\t")?;
            let wanted = name.starts_with("Cap") || name == "NoNewPrivs";
            wanted.then(|| (name.to_owned(), u64::from_str_radix(value, 16).unwrap()))
        });
        found.push(facts.collect());
    }
    found
}

fn assert_gave_up(what: &str, pid: u64, left: u64) {
    let threads = privileges(pid);
    assert!(!threads.is_empty(), "{what}");
    for thread in threads {
        for (name, bits) in thread {
            let expected = match name.as_str() {
                "NoNewPrivs" => 1,
                "CapInh" | "CapAmb" => 0,
                _ => left,
            };
            assert_eq!(bits, expected, "{what}: {name} {bits:#x}");
        }
    }
}

#[test]
fn a_sink_keeps_only_what_it_needs_and_still_repairs() {
    let lab = Lab::new();
    let sink = lab.b.leasing_sink("--dev b0 --node-id 2");
    let pid = lab.b.status()["sink"]["daemon_pid"].as_u64().unwrap();
    assert_gave_up("sink", pid, STEADY);
    lab.b.hostint("source attach --dev b0");
    lab.b.hostint("source add-dest 10.9.1.1");
    // The programs go with the interface, and are put on the one that comes after it.
    sh(&format!(
        "ip -n {b} link del b0
         ip link add b0 netns {b} type veth peer name m1 netns {m}
         ip -n {b} addr add 10.9.2.1/24 dev b0
         ip -n {m} link set m1 up; ip -n {b} link set b0 up",
        b = lab.b.ns,
        m = lab.m.ns
    ));
    await_that_or(
        || {
            let status = lab.b.status();
            let attached = |role: &str| status[role]["attachments"][0]["dev"] == "b0";
            attached("sink") && attached("source")
        },
        || sink.stderr(),
    );
    assert!(!sink.stderr().contains("cannot"), "{}", sink.stderr());
    assert_gave_up("sink, after a repair", pid, STEADY);
}

#[test]
fn root_is_told_why_it_may_not_open_a_file() {
    let lab = Lab::new();
    let folder = std::env::temp_dir().join(format!("hostint-theirs-{}", std::process::id()));
    sh(&format!(
        "mkdir {0}; echo '[sink]' >{0}/hostint.toml; chown -R {NOBODY} {0}; chmod 700 {0}; chmod 600 {0}/hostint.toml",
        folder.display()
    ));
    for (code, flags) in [
        (2, format!("--config {}/hostint.toml", folder.display())),
        (1, format!("--report-log {}/log", folder.display())),
    ] {
        let refused = lab
            .b
            .try_hostint(&format!("sink --dev b0 --node-id 2 {flags}"));
        assert_eq!(refused.status.code(), Some(code), "{flags}");
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert!(
            stderr.contains("readable for root by their modes"),
            "{stderr}"
        );
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn where_root_has_no_cap_bpf_cap_sys_admin_stays() {
    let lab = Lab::new();
    let less = "--bounding-set=-bpf,-perfmon";
    let mut command = lab.b.command(
        "setpriv",
        &[
            less,
            places::hostint(),
            "sink",
            "--dev",
            "b0",
            "--node-id",
            "2",
        ],
    );
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let _sink = Running(command.spawn().unwrap());
    const ADMIN: u64 = 1 << 12 | 1 << 21;
    await_that("the sink runs, with what stands for what it needs", || {
        let status = lab.b.status();
        let pid = status["sink"]["daemon_pid"].as_u64();
        pid.is_some_and(|pid| privileges(pid)[0]["CapEff"] == ADMIN)
    });
}

#[test]
fn a_source_in_the_foreground_keeps_only_what_it_needs() {
    let lab = Lab::new();
    let source = lab.a.start(
        "source attach --dev a0 --node-id 1 --force --foreground",
        "no --lease-key",
    );
    await_that("it gave up what it needs no more", || {
        privileges(source.pid())[0]["CapEff"] == STEADY
    });
    assert_gave_up("source", source.pid(), STEADY);
}

#[test]
fn a_collector_keeps_nothing() {
    let lab = Lab::new();
    let collector = lab.b.start("collect --listen 10.9.2.1", "collecting on");
    assert_gave_up("collector", collector.pid(), 0);
    let _sink = lab
        .a
        .sink("--dev a0 --node-id 1 --collector 10.9.2.1 --report-period 100ms");
    lab.b
        .hostint("source attach --dev b0 --encap over-tcp-udp --force --node-id 2");
    lab.b.hostint("source add-dest --static 10.9.1.1");
    let (from, to) = (lab.b.udp("10.9.2.1:5000"), lab.a.udp("10.9.1.1:6000"));
    for _ in 0..20 {
        from.send_to(&[7; 400], "10.9.1.1:6000").unwrap();
        to.recv(&mut [0; 500]).unwrap();
    }
    await_that("a report came", || collector.stdout().contains("latency"));
}

/// A file system for pins that a user owns, and a copy of the program that everybody may run.
struct Delegated {
    folder: PathBuf,
}

impl Delegated {
    fn new(owner: u32) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hostint-pins-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let place = folder.display();
        sh(&format!(
            "mkdir {place}; chmod 755 {place}; mkdir {place}/bpf; cp {} {place}/hostint
             mount -t bpf -o mode=700 bpf {place}/bpf; chown {owner} {place}/bpf",
            places::hostint()
        ));
        Self { folder }
    }

    fn bpffs(&self) -> PathBuf {
        self.folder.join("bpf")
    }
}

impl Drop for Delegated {
    fn drop(&mut self) {
        let place = self.folder.display();
        let _ = Command::new("sh")
            .args(["-c", &format!("umount {place}/bpf; rm -rf {place}")])
            .output();
    }
}

/// hostint as a user with these capabilities, separated by commas.
fn as_user(host: &Host, at: &Delegated, user: u32, capabilities: &str, line: &str) -> Command {
    let listed: String = capabilities
        .split(',')
        .filter(|one| !one.is_empty())
        .map(|one| format!(",+{one}"))
        .collect();
    let ids = [format!("--reuid={user}"), format!("--regid={user}")];
    let sets = [
        format!("--inh-caps=-all{listed}"),
        format!("--ambient-caps=-all{listed}"),
    ];
    let program = at.folder.join("hostint");
    let mut args: Vec<&str> = ids.iter().chain(&sets).map(String::as_str).collect();
    args.extend(["--clear-groups", program.to_str().unwrap()]);
    args.extend(line.split_whitespace());
    let mut command = host.command("setpriv", &args);
    command.env("HOSTINT_BPFFS", at.bpffs());
    command
}

fn said(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), stderr)
}

/// Ended when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn nobody_collects() {
    let lab = Lab::new();
    let at = Delegated::new(NOBODY);
    let mut command = as_user(
        &lab.b,
        &at,
        NOBODY,
        "",
        "collect --listen 10.9.2.1 --count 1",
    );
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut collector = Running(command.stderr(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(collector.0.stderr.take().unwrap()).lines();
    assert!(said.next().unwrap().unwrap().contains("collecting on"));
    let sender = lab.b.udp("10.9.2.1:0");
    sender.send_to(b"no report", "10.9.2.1:32766").unwrap();
    assert_eq!(collector.0.wait().unwrap().code(), Some(0));
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    assert!(rest.last().unwrap().contains("1 undecodable"), "{rest:?}");
}

#[test]
fn a_user_with_capabilities_runs_a_sink() {
    let lab = Lab::new();
    let at = Delegated::new(NOBODY);
    const ALL: &str = "bpf,net_admin,perfmon,net_raw";
    let mut command = as_user(&lab.b, &at, NOBODY, ALL, "sink --dev b0 --node-id 2");
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let sink = Running(command.process_group(0).spawn().unwrap());
    let status = |capabilities: &str| {
        let output = as_user(&lab.b, &at, NOBODY, capabilities, "status --json").output();
        serde_json::from_slice::<serde_json::Value>(&output.unwrap().stdout).unwrap_or_default()
    };
    await_that("the sink runs", || {
        status("")["sink"]["attachments"][0]["dev"] == "b0"
    });
    let pid = status("")["sink"]["daemon_pid"].as_u64().unwrap();
    await_that("it gave up what it needs no more", || {
        privileges(pid)[0]["CapEff"] == STEADY
    });
    assert_eq!(privileges(pid)[0]["CapAmb"], 0);
    drop(sink);
    for (missing, left) in [
        ("CAP_BPF", "net_admin,perfmon"),
        ("CAP_NET_ADMIN", "bpf,perfmon"),
        ("CAP_PERFMON", "bpf,net_admin"),
    ] {
        let mut command = as_user(&lab.b, &at, NOBODY, left, "sink --dev b0 --node-id 2");
        let (code, stderr) = said(&mut command);
        assert_eq!(code, Some(1), "{missing}");
        assert!(
            stderr.contains(&format!("needs {missing} (try sudo)")),
            "{stderr}"
        );
        let (_, stderr) = said(command.env("container", "podman"));
        let flag = missing.replace("CAP_", "--cap-add ");
        assert!(
            stderr.contains(&format!("needs {missing} (try --user 0 {flag})")),
            "{stderr}"
        );
    }
    let other = 12345;
    let (code, stderr) = said(&mut as_user(&lab.b, &at, other, "", "status"));
    assert_eq!(code, Some(1));
    assert!(
        stderr.contains("what is pinned is root's, or of the user who runs the daemon (try sudo)"),
        "{stderr}"
    );
    let (code, stderr) = said(&mut as_user(&lab.b, &at, NOBODY, ALL, "sink detach"));
    assert_eq!(code, Some(0), "{stderr}");
}

#[test]
fn a_folder_of_a_stranger_is_not_used() {
    let lab = Lab::new();
    let at = Delegated::new(0);
    let folder = at.bpffs();
    let folder = folder.display();
    sh(&format!(
        "mkdir {folder}/hostint; chown {NOBODY} {folder}/hostint"
    ));
    let run = |line: &str| said(&mut as_user(&lab.b, &at, 0, "", line));
    // Only root could have made it.
    assert_eq!(run("status").0, Some(3));
    sh(&format!("chmod 1777 {folder}"));
    for line in ["status", "sink --dev b0 --node-id 2"] {
        let mut command = lab
            .b
            .command(places::hostint(), &line.split(' ').collect::<Vec<_>>());
        let (code, stderr) = said(command.env("HOSTINT_BPFFS", at.bpffs()));
        assert_eq!(code, Some(1), "{line}");
        assert!(stderr.contains("belongs to user 65534"), "{line}: {stderr}");
    }
    assert!(!Path::new(&format!("{folder}/hostint/maps")).exists());
}

#[test]
fn where_no_bpffs_is_mounted_the_sink_mounts_one() {
    let lab = Lab::new();
    let hostint = places::hostint();
    let script = format!(
        "while umount /sys/fs/bpf 2>/dev/null; do :; done
         said=$(mktemp)
         {hostint} sink --dev b0 --node-id 2 --control /proc/self/none 2>$said &
         until grep -q 'sink attached' $said; do kill -0 $!; sleep 0.05; done
         {hostint} status >/dev/null
         kill $!; wait $!
         rm $said
         {hostint} sink detach --now"
    );
    let namespaces = ["--mount", "--pid", "--fork", "--mount-proc"];
    let run = ["60", "unshare"].iter().chain(&namespaces);
    let args: Vec<&str> = run.chain(&["sh", "-ec", &script]).copied().collect();
    let output = lab.b.command("timeout", &args).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("sink detached from b0"), "{stderr}");
}
