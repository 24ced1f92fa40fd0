//! Hosts as network namespaces, a - m - b, with the real binary in them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::{leftovers, places};

/// Long enough for a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(60);
const LONGEST_PAUSE: Duration = Duration::from_millis(80);
/// A look at a host costs processor time, which other tests need: a test rests this many times as long as it looked.
const RESTS: u32 = 8;
const LONGEST_REST: Duration = Duration::from_millis(400);

/// Waits until a condition holds; `what` is the sentence of the failure.
pub fn await_that(what: &str, holds: impl FnMut() -> bool) {
    await_that_or(holds, || format!("never happened: {what}"));
}

/// Waits until a condition holds, or fails with what is then to be said.
pub fn await_that_or(mut holds: impl FnMut() -> bool, failure: impl Fn() -> String) {
    let begun = Instant::now();
    let mut pause = Duration::from_millis(5);
    loop {
        let looked = Instant::now();
        if holds() {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{}", failure());
        // What came soon is seen soon, and the rest by at most half as late again.
        let rest = LONGEST_REST.min(looked.elapsed() * RESTS);
        std::thread::sleep(pause.max(rest.min(begun.elapsed() / 2)));
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}

/// The flags of a source whose destinations give no leases: it has to be told the form of its packets.
pub fn with_form(flags: &str) -> String {
    let names_one = ["--encap", "--compat", "--hook xdp"]
        .iter()
        .any(|flag| flags.contains(flag));
    match names_one {
        true => flags.to_owned(),
        false => format!("{flags} --encap over-tcp-udp"),
    }
}

/// Runs a command to its end; it must succeed.
pub fn sh(line: &str) -> String {
    let output = Command::new("sh").args(["-ec", line]).output().unwrap();
    assert!(
        output.status.success(),
        "{line}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A test's traffic may cost more than hosts usually allow.
const BUDGET: &str = "HOSTINT_SOURCE_BUDGET";

/// One host.
#[derive(Clone)]
pub struct Host {
    pub ns: String,
    pub bpffs: Option<PathBuf>,
    /// Which hostint is run.
    pub binary: PathBuf,
    /// What HOSTINT_SOURCE_BUDGET says.
    pub budget: &'static str,
}

impl Host {
    fn new(ns: String) -> Self {
        sh(&format!("ip netns add {ns}; ip -n {ns} link set lo up"));
        Self {
            ns,
            bpffs: None,
            binary: places::hostint().into(),
            budget: "off",
        }
    }

    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.ns, program])
            .args(args)
            .env("HOSTINT_STORE", "none")
            .env(BUDGET, self.budget)
            .env("STATE_DIRECTORY", self.state());
        if let (true, Some(bpffs)) = (Path::new(program) == self.binary, &self.bpffs) {
            command.env("HOSTINT_BPFFS", bpffs);
        }
        command
    }

    /// The folder where its node id is kept.
    pub fn state(&self) -> PathBuf {
        std::env::temp_dir().join(format!("{}-state", self.ns))
    }

    /// Runs a shell line in the namespace; it must succeed.
    pub fn sh(&self, line: &str) -> String {
        let output = self.command("sh", &["-ec", line]).output().unwrap();
        assert!(
            output.status.success(),
            "{}: {line}: {}",
            self.ns,
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    fn run(&self, args: &[&str]) -> Command {
        self.command(self.binary.to_str().unwrap(), args)
    }

    /// The same host with another build of hostint.
    pub fn with_binary(&self, binary: impl Into<PathBuf>) -> Self {
        Self {
            binary: binary.into(),
            ..self.clone()
        }
    }

    /// Where its programs and maps are pinned.
    pub fn pins(&self) -> PathBuf {
        let id = self.enter(|| hostint::os::netns::id().unwrap());
        let bpffs = self.bpffs.clone().unwrap_or("/sys/fs/bpf".into());
        bpffs.join("hostint").join(id.to_string())
    }

    /// Runs hostint to its end.
    pub fn try_hostint(&self, line: &str) -> Output {
        let args: Vec<&str> = line.split_whitespace().collect();
        self.run(&args).output().unwrap()
    }

    /// Runs hostint to its end; it must succeed.
    pub fn hostint(&self, line: &str) -> String {
        let output = self.try_hostint(line);
        assert!(
            output.status.success(),
            "hostint {line}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Starts a daemon and waits until its stderr says `ready`. All flows are measured, whatever that costs.
    pub fn start(&self, line: &str, ready: &str) -> Daemon {
        let args: Vec<&str> = line.split_whitespace().collect();
        self.start_command(self.run(&args), line, ready)
    }

    /// Starts a daemon that holds the budget, too.
    pub fn start_with_budget(&self, line: &str, ready: &str) -> Daemon {
        let args: Vec<&str> = line.split_whitespace().collect();
        let mut command = self.run(&args);
        command.env_remove(BUDGET);
        self.start_command(command, line, ready)
    }

    fn start_command(&self, mut command: Command, line: &str, ready: &str) -> Daemon {
        let dir = std::env::temp_dir();
        let log = |kind: &str| {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let n = NEXT.fetch_add(1, Ordering::Relaxed);
            dir.join(format!("{}-{n}.{kind}", self.ns))
        };
        let (stdout, stderr) = (log("out"), log("err"));
        let child = command
            .stdin(Stdio::null())
            .stdout(File::create(&stdout).unwrap())
            .stderr(File::create(&stderr).unwrap())
            .spawn()
            .unwrap();
        let mut daemon = Daemon {
            child,
            stdout,
            stderr,
        };
        await_that(&format!("hostint {line} says {ready:?}"), || {
            if let Some(status) = daemon.child.try_wait().unwrap() {
                panic!("hostint {line} ended: {status}: {}", daemon.stderr());
            }
            daemon.stderr().contains(ready)
        });
        daemon
    }

    /// A sink on these interfaces, attached, that strips whatever is tagged.
    pub fn sink(&self, flags: &str) -> Daemon {
        self.leasing_sink(&format!("{flags} --allow 0.0.0.0/0,::/0"))
    }

    /// A sink on these interfaces, attached, that strips what hosts with leases tag.
    pub fn leasing_sink(&self, flags: &str) -> Daemon {
        self.start(&format!("sink {flags}"), "sink attached")
    }

    /// All that status says, with each flow.
    pub fn status(&self) -> Value {
        self.look("status --json --flows 100000")
    }

    /// What status says besides flows, which may be many.
    pub fn figures(&self) -> Value {
        self.look("status --json --flows 0")
    }

    /// Tests look often: this is cheaper than `ip netns exec`, which makes a mount namespace each time.
    fn look(&self, line: &str) -> Value {
        let mut command = Command::new(&self.binary);
        command
            .args(line.split_whitespace())
            .env("HOSTINT_STORE", "none")
            .env("STATE_DIRECTORY", self.state());
        if let Some(bpffs) = &self.bpffs {
            command.env("HOSTINT_BPFFS", bpffs);
        }
        let output = self.enter(|| command.output()).unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Packets counted by the sink or source for a reason.
    pub fn count(&self, role: &str, name: &str) -> u64 {
        self.counter(role, "counters", name)["packets"]
            .as_u64()
            .unwrap()
    }

    /// What the sink's daemon counts.
    pub fn daemon_count(&self, name: &str) -> u64 {
        self.counter("sink", "daemon", name)["value"]
            .as_u64()
            .unwrap()
    }

    fn counter(&self, role: &str, list: &str, name: &str) -> Value {
        let status = self.figures();
        let counters = status[role][list].as_array();
        counters
            .and_then(|all| all.iter().find(|counter| counter["name"] == name))
            .unwrap_or_else(|| panic!("{role} has no counter {name}: {status}"))
            .clone()
    }

    /// All counters of the sink or the source.
    pub fn counters(&self, role: &str) -> BTreeMap<String, u64> {
        let status = self.figures();
        let counters = status[role]["counters"].as_array();
        counters
            .unwrap_or_else(|| panic!("no {role}: {status}"))
            .iter()
            .map(|counter| {
                let name = counter["name"].as_str().unwrap().to_owned();
                (name, counter["packets"].as_u64().unwrap())
            })
            .collect()
    }

    /// Runs a closure in the namespace; sockets made there stay there.
    pub fn enter<T>(&self, run: impl FnOnce() -> T) -> T {
        let back = File::open("/proc/thread-self/ns/net").unwrap();
        let there = File::open(format!("/run/netns/{}", self.ns)).unwrap();
        setns(there.as_fd(), CloneFlags::CLONE_NEWNET).unwrap();
        let result = run();
        setns(back.as_fd(), CloneFlags::CLONE_NEWNET).unwrap();
        result
    }

    pub fn udp(&self, addr: &str) -> UdpSocket {
        let socket = self.enter(|| UdpSocket::bind(addr)).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        // XDP packets take a page each: the default buffer holds a few dozen.
        nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::RcvBufForce, &(64 << 20))
            .unwrap();
        socket
    }

    /// The kernel's own count of packets with wrong L4 checksums, over both IP versions.
    pub fn checksum_errors(&self) -> u64 {
        self.sh("nstat -asz '*InCsumErrors'")
            .lines()
            .filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
            .sum()
    }

    /// The packets and bytes of all counters that `nft list` shows of a table, a chain or a counter.
    pub fn counted_by_nft(&self, object: &str) -> (u64, u64) {
        let listed = self.sh(&format!("nft list {object}"));
        let words: Vec<&str> = listed.split_whitespace().collect();
        let sum = |name| -> u64 {
            let figures = words.windows(2).filter(|words| words[0] == name);
            figures
                .filter_map(|words| words[1].parse::<u64>().ok())
                .sum()
        };
        (sum("packets"), sum("bytes"))
    }
}

/// A running daemon; ended when dropped.
pub struct Daemon {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Daemon {
    pub fn stderr(&self) -> String {
        std::fs::read_to_string(&self.stderr).unwrap()
    }

    pub fn stdout(&self) -> String {
        std::fs::read_to_string(&self.stdout).unwrap()
    }

    /// The whole lines of standard output behind these bytes, which grow by them.
    pub fn further_lines(&self, behind: &mut u64) -> String {
        let mut file = File::open(&self.stdout).unwrap();
        file.seek(SeekFrom::Start(*behind)).unwrap();
        let mut lines = String::new();
        file.read_to_string(&mut lines).unwrap();
        lines.truncate(lines.rfind('\n').map_or(0, |end| end + 1));
        *behind += lines.len() as u64;
        lines
    }

    /// The whole lines of JSON that it printed so far.
    pub fn json_lines(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).expect(line);
        self.further_lines(&mut 0).lines().map(parse).collect()
    }

    pub fn json_lines_of(&self, kind: &str) -> Vec<Value> {
        let mut all = self.json_lines();
        all.retain(|line| line["kind"] == kind);
        all
    }

    /// Ends it, and returns its last line, which has all counts.
    pub fn totals(&mut self, kind: &str) -> Value {
        assert_eq!(self.end(), Some(0), "{}", self.stderr());
        let last = self.json_lines().pop().expect("a line");
        assert_eq!(last["kind"], kind, "{last}");
        last
    }

    pub fn pid(&self) -> u64 {
        self.child.id().into()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    /// Asks it to end and returns its exit code.
    pub fn end(&mut self) -> Option<i32> {
        self.signal(Signal::SIGTERM);
        self.wait()
    }

    /// Waits for it to end by itself and returns its exit code.
    pub fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// True once it ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// kill -9.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.stdout);
        let _ = std::fs::remove_file(&self.stderr);
    }
}

/// a (10.9.1.1, a0) - m (router) - b (10.9.2.1, b0).
pub struct Lab {
    pub a: Host,
    pub m: Host,
    pub b: Host,
    extra: RefCell<Vec<String>>,
}

impl Lab {
    #[allow(clippy::new_without_default)] // it makes namespaces
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        leftovers::remove_once();
        let id = format!(
            "hi{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let host = |name: &str| Host::new(format!("{id}{name}"));
        let lab = Self {
            a: host("a"),
            m: host("m"),
            b: host("b"),
            extra: RefCell::default(),
        };
        let (a, m, b) = (&lab.a.ns, &lab.m.ns, &lab.b.ns);
        sh(&format!(
            "ip link add a0 netns {a} type veth peer name m0 netns {m}
             ip link add b0 netns {b} type veth peer name m1 netns {m}
             ip -n {a} addr add 10.9.1.1/24 dev a0
             ip -n {m} addr add 10.9.1.2/24 dev m0
             ip -n {b} addr add 10.9.2.1/24 dev b0
             ip -n {m} addr add 10.9.2.2/24 dev m1
             ip -n {a} link set a0 up; ip -n {m} link set m0 up
             ip -n {m} link set m1 up; ip -n {b} link set b0 up
             ip netns exec {m} sysctl -qw net.ipv4.ip_forward=1
             ip -n {a} route add default via 10.9.1.2
             ip -n {b} route add default via 10.9.2.2"
        ));
        lab
    }

    /// The same hosts over IPv6: fd09:1::1 - m - fd09:2::1.
    pub fn add_ipv6(&self) {
        let (a, m, b) = (&self.a.ns, &self.m.ns, &self.b.ns);
        sh(&format!(
            "ip -n {a} addr add fd09:1::1/64 dev a0 nodad
             ip -n {m} addr add fd09:1::2/64 dev m0 nodad
             ip -n {b} addr add fd09:2::1/64 dev b0 nodad
             ip -n {m} addr add fd09:2::2/64 dev m1 nodad
             ip netns exec {m} sysctl -qw net.ipv6.conf.all.forwarding=1
             ip -n {a} -6 route add default via fd09:1::2
             ip -n {b} -6 route add default via fd09:2::2"
        ));
    }

    /// Every TCP segment a packet of its own, with room for INT: what bulk TCP needs in this version.
    pub fn make_room(&self) {
        sh(&format!(
            "ip -n {a} link set a0 gso_max_segs 1; ip -n {b} link set b0 gso_max_segs 1
             ip -n {a} route replace default via 10.9.1.2 mtu 1440 advmss 1400
             ip -n {b} route replace default via 10.9.2.2 mtu 1440 advmss 1400",
            a = self.a.ns,
            b = self.b.ns
        ));
    }

    /// Another host, without links.
    pub fn host(&self, name: &str) -> Host {
        let host = Host::new(format!("{}{name}", self.a.ns));
        self.extra.borrow_mut().push(host.ns.clone());
        host
    }

    /// Drops a share of what m forwards, counted by nftables.
    pub fn drop_packets(&self, rule: &str) {
        self.m.sh(&format!(
            "nft add table ip lab; nft add counter ip lab dropped
             nft 'add chain ip lab lossy {{ type filter hook forward priority 0; }}'
             nft 'add rule ip lab lossy {rule} counter name dropped drop'"
        ));
    }

    /// Ends dropping; how many packets were dropped.
    pub fn dropped(&self) -> u64 {
        self.m.sh("nft flush chain ip lab lossy");
        self.m.counted_by_nft("table ip lab").0
    }

    /// A source on a and sinks on both, without reports.
    pub fn tag(&self, source_flags: &str) -> [Daemon; 2] {
        let sinks = [
            self.a.sink("--dev a0 --node-id 1"),
            self.b.sink("--dev b0 --node-id 2"),
        ];
        let flags = with_form(source_flags);
        self.a.hostint(&format!("source attach --dev a0 {flags}"));
        self.a.hostint("source add-dest --static 10.9.2.1");
        sinks
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let extra = self.extra.borrow();
        for ns in [&self.a.ns, &self.m.ns, &self.b.ns]
            .into_iter()
            .chain(extra.iter())
        {
            let host = Host {
                ns: ns.clone(),
                ..self.a.clone()
            };
            // What is attached goes with its pins, or with its interface. Pins go first: a daemon that starts elsewhere would
            // say that it removed them.
            if Path::new("/run/netns").join(ns).exists() {
                let _ = std::fs::remove_dir_all(host.pins());
            }
            let _ = Command::new("ip").args(["netns", "del", ns]).output();
            let _ = std::fs::remove_dir_all(host.state());
        }
    }
}

/// The pins of a host, as a list of paths below its folder.
pub fn pins_below(path: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(path) else {
        return found;
    };
    for entry in entries.map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(pins_below(&entry.path()));
        } else {
            found.push(entry.path().display().to_string());
        }
    }
    found
}
