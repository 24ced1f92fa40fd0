//! Commands that change a host, each on a host of its own: a network namespace with a BPF file system and a veth pair.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use hostint_testing::harness::{Daemon, check_all, run, text};
use hostint_testing::places;
use hostint_testing::scratch::TempFile;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

struct Host(Child);

impl Host {
    /// `more` is run in the new namespaces, where /mnt is a fresh tmpfs.
    fn new(more: &str) -> Self {
        assert!(
            nix::unistd::geteuid().is_root(),
            "needs root (try: sudo make test)"
        );
        let script = format!(
            "set -e
             mount -t tmpfs -o mode=755 tmpfs /mnt
             mkdir /mnt/bpf
             mount -t bpf -o mode=700 bpf /mnt/bpf
             ip link set lo up
             ip link add v0 type veth peer name v1
             ip address add 10.99.0.1/24 dev v0
             ip link set v0 up
             ip link set v1 up
             {more}
             echo ready
             exec cat"
        );
        // cat ends when we do, and with it the namespaces.
        let mut child = Command::new("unshare")
            .args(["--net", "--mount", "sh", "-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.as_mut().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Self(child)
    }

    fn command(&self, program: &[&str], args: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command
            .args(["--net", "--mount", "--target", &self.0.id().to_string()])
            .arg("--")
            .args(program)
            .args(args)
            .env("HOSTINT_BPFFS", "/mnt/bpf")
            .env("STATE_DIRECTORY", "/mnt/node")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        run(self.command(&[places::hostint()], args))
    }

    fn code(&self, args: &[&str]) -> Option<i32> {
        self.run(args).status.code()
    }

    fn check_all(&self, code: i32, cases: &str) {
        check_all(code, cases, |args| self.run(args));
    }

    /// Standard output of what must succeed.
    fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let err = text(&output.stderr);
        assert!(output.status.success(), "{args:?}: {err}");
        text(&output.stdout)
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(args)).unwrap()
    }

    /// The daemon shows up in the status within its first pass.
    fn status_with_daemon(&self) -> Value {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let status = self.json(&["status", "--json"]);
            if status["sink"]["daemon_pid"].is_u64() {
                return status;
            }
            assert!(Instant::now() < deadline, "no daemon: {status}");
        }
    }

    fn source(&self, more: &[&str]) {
        let args = [
            "source",
            "attach",
            "--dev",
            "v0",
            "--force",
            "--node-id",
            "1",
        ];
        self.ok(&[&args, more].concat());
    }

    fn sink(&self, args: &[&str]) -> Daemon {
        let mut command = self.command(&[places::hostint(), "sink"], args);
        Daemon::start(command.stdout(Stdio::null()))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const NOTHING_RUNS: &str = "
status
$ status
hostint: hostint does not run on this host

all of it
$ status --all
hostint: hostint does not run on this host

no sink to detach
$ sink detach
hostint: no sink

no sink on that interface
$ sink detach --dev v0
hostint: no sink

no source to detach
$ source detach
hostint: no source

no source on that interface
$ source detach --dev v0
hostint: no source
";

#[test]
fn nothing_runs_is_3() {
    let host = Host::new("");
    host.check_all(3, NOTHING_RUNS);
    let output = host.run(&["status", "--json"]);
    assert_eq!(output.status.code(), Some(3));
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["schema"], "hostint.status/1");
    assert!(status["sink"].is_null(), "{status}");
    assert!(status["source"].is_null(), "{status}");
}

const NO_SINK: &str = "
no sink
$ source attach --dev v0
no sink runs on this host
start hostint sink first, or use --force

no source to have destinations
$ source add-dest 10.0.0.1
no source on this host
hostint source attach
";

const FORCED: &str = "
forced and named
$ source attach --dev v0 --force --node-id 9
source attached to v0
options, node id 9
";

#[test]
fn a_source_needs_a_sink_on_its_host() {
    let host = Host::new("");
    host.check_all(1, NO_SINK);
    host.check_all(0, FORCED);
    assert_eq!(host.json(&["status", "--json"])["node_id"], 9);
    host.check_all(0, "gone\n$ source detach\nsource detached from v0");
    assert_eq!(host.code(&["status"]), Some(3));
}

#[test]
fn flags_win_over_the_file_and_the_file_over_defaults() {
    let host = Host::new("");
    let file = TempFile::new(
        "layers.toml",
        r#"[sink]
           dev = ["v1"]
           node-id = 7
           report-period = "5s"
           loss-timeout = "300ms"
           latency-buckets = ["1ms", "2ms"]
           encap = ["extension-udp"]
           collector = ["127.0.0.1:5001", "localhost:5002"]
           drop-tagged = true"#,
    );
    let mut daemon = host.sink(&[
        "--config",
        file.path(),
        "--dev=v0",
        "--node-id=8",
        "--report-period=3s",
        "--drop-tagged=false",
    ]);
    daemon.wait_for("sink attached to v0 (tc, tcx), node id 8");
    let status = host.status_with_daemon();
    let settings = &status["sink"]["settings"];
    assert_eq!(status["node_id"], 8);
    assert_eq!(status["sink"]["daemon_pid"], daemon.child.id());
    assert_eq!(status["sink"]["attachments"][0]["dev"], "v0");
    assert_eq!(settings["report_period_ns"], 3_000_000_000_u64);
    assert_eq!(settings["loss_timeout_ns"], 300_000_000);
    assert_eq!(settings["extension_port"], 33122);
    assert_eq!(settings["encapsulations"], json!(["extension-udp"]));
    assert_eq!(settings["report_ports"], json!([5001, 5002, 32766]));
    assert_eq!(settings["drop_tagged"], false);
    assert_eq!(settings["buckets"].as_array().unwrap().len(), 2);

    daemon.signal(Signal::SIGTERM);
    let (code, err) = daemon.end();
    assert_eq!(code, Some(0), "{err}");
    let advice = "INT is still stripped (hostint sink detach ends that)";
    assert!(err.contains(advice), "{err}");
    let text = host.ok(&["status"]);
    assert!(text.contains("sink: no daemon"), "{text}");
    host.check_all(0, "gone\n$ sink detach\nsink detached from v0");
    assert_eq!(host.code(&["status"]), Some(3));
}

const NO_FORM: &str = "
destinations without leases, and a source that leaves the form to leases
$ source add-dest --static 10.3.0.1
cannot tag packets on v0 without leases
--compat host-int
--encap over-tcp-udp
";

const REFUSED_DESTS: &str = "
one unknown name: nothing is added
$ source add-dest 10.3.0.1 nosuch.invalid
cannot find destination nosuch.invalid (try its address)

not on the list
$ source del-dest 10.9.9.9
10.9.9.9 was not watched
hostint source dests
";

#[test]
fn destinations_without_leases_need_a_source_that_is_told_the_form() {
    let host = Host::new("");
    host.source(&[]);
    host.check_all(2, NO_FORM);
    assert_eq!(host.ok(&["source", "dests"]), "");
    host.source(&["--compat", "host-int"]);
    host.ok(&["source", "add-dest", "--static", "10.3.0.1"]);
    let output = host.run(&["source", "attach", "--dev", "v0", "--encap", "tunnel"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn destinations_change_while_the_source_runs() {
    let host = Host::new(
        "printf '10.1.2.3 peer\\n2001:db8::1 six\\n' >/mnt/hosts
         mount --bind /mnt/hosts /etc/hosts",
    );
    let file = TempFile::new("dests", "# comment\n\n10.2.0.0/16  # rack 2\npeer\n");
    host.source(&["--encap", "vxlan-gpe", "--dest-file", file.path()]);
    let dests = || host.ok(&["source", "dests"]);
    assert_eq!(dests(), "10.1.2.3           peer\n10.2.0.0/16\n");
    host.check_all(1, REFUSED_DESTS);
    assert_eq!(dests(), "10.1.2.3           peer\n10.2.0.0/16\n");
    host.ok(&["source", "add-dest", "10.3.0.1"]);
    host.ok(&["source", "add-dest", "--static", "six", "2001:db8:7::/48"]);
    host.ok(&["source", "del-dest", "peer"]);
    assert_eq!(
        host.json(&["source", "dests", "--json"]),
        json!({"schema": "hostint.dests/1", "dests": [
            {"prefix": "10.2.0.0/16", "name": "10.2.0.0/16", "static": false},
            {"prefix": "10.3.0.1", "name": "10.3.0.1", "static": false},
            {"prefix": "2001:db8::1", "name": "six", "static": true},
            {"prefix": "2001:db8:7::/48", "name": "2001:db8:7::/48", "static": true},
        ]})
    );
}

const UNPRIVILEGED: &str = "
a sink
$ sink --dev v0 --node-id 1
needs CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON (try sudo)

a sink whose id is to be found
$ sink --dev v0
needs CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON (try sudo)

a source
$ source attach --dev v0 --force --node-id 1
needs CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON (try sudo)

a port of the system's
$ collect --store none --listen 127.0.0.1:99
cannot bind UDP address 127.0.0.1:99: Permission denied (ports below 1024 take CAP_NET_BIND_SERVICE: try sudo, or another port)

a folder of root's
$ collect --listen 127.0.0.1:0 --store /mnt/history.db
cannot open store /mnt/history.db: Permission denied
(try as the user who owns it, or another --store)
";

/// Of a sink that runs.
const UNTOUCHED: &str = "
its end
$ sink detach
cannot detach the sink: Permission denied
needs CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON (try sudo)
";

/// The sink or source that this user cannot see may have been given an id, so none is derived.
const UNSEEN: &str = "
drops
$ postcards --drops --collector 127.0.0.1
this user cannot see whether a sink or source runs on this host
try --node-id 3

connections
$ tcp --collector 127.0.0.1
this user cannot see whether a sink or source runs on this host
try --node-id 3
";

#[test]
fn without_privileges_the_message_says_what_to_try() {
    let host = Host::new(&format!("cp {} /mnt/hostint", places::hostint()));
    let ids = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let nobody = [&["setpriv"][..], &ids, &["/mnt/hostint"]].concat();
    let start = |args: &[&str]| run(host.command(&nobody, args));
    check_all(1, UNPRIVILEGED, start);
    check_all(2, UNSEEN, start);
    assert_eq!(start(&["--help"]).status.code(), Some(0));
    let collect = start(&["collect", "--count", "0", "--store", "none"]);
    assert_eq!(collect.status.code(), Some(0));
    let mut sink = host.sink(&["--dev", "v0", "--node-id", "1"]);
    sink.wait_for("sink attached");
    // As the kernel mounts it by itself.
    let opened = run(host.command(&["chmod"], &["755", "/mnt/bpf"]));
    assert!(opened.status.success());
    check_all(1, UNTOUCHED, start);
}

/// A static binary dies when glibc loads a module of another glibc: it must not load any.
#[cfg(target_feature = "crt-static")]
#[test]
fn names_resolve_without_the_hosts_modules() {
    let code = TempFile::new(
        "nss.c",
        "__attribute__((constructor)) static void loaded(void) { __builtin_trap(); }\n",
    );
    let host = Host::new(&format!(
        "echo 'hosts: files resolve [!UNAVAIL=return] myhostname dns' >/mnt/nsswitch.conf
         mount --bind /mnt/nsswitch.conf /etc/nsswitch.conf
         echo '10.1.2.3 peer' >/mnt/hosts
         mount --bind /mnt/hosts /etc/hosts
         gcc -shared -fPIC -o /mnt/libnss_resolve.so.2 {}
         cp /mnt/libnss_resolve.so.2 /mnt/libnss_myhostname.so.2",
        code.path()
    ));
    host.source(&[]);
    let start = |args: &[&str]| {
        let mut command = host.command(&[places::hostint()], args);
        command.env("LD_LIBRARY_PATH", "/mnt");
        run(command)
    };
    check_all(0, "in /etc/hosts\n$ source add-dest peer", start);
    assert_eq!(host.ok(&["source", "dests"]), "10.1.2.3           peer\n");
    check_all(
        1,
        "a name that only the modules could know
         $ source add-dest nosuch.invalid
         cannot find destination nosuch.invalid",
        start,
    );
}
