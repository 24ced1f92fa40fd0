//! Under a service manager, daemons tell readiness, state and signs of life, and log to the journal.

use std::fs::read_to_string;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hostint::os::clock;
use hostint::os::log::Event;
use hostint::os::notify::Notify;
use hostint_testing::places;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How long a manager waits for what it must hear.
const PATIENCE: Duration = Duration::from_secs(20);

/// A folder that goes with its guard.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hostint-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A manager's socket, and what it heard.
struct Manager {
    folder: Folder,
    socket: UnixDatagram,
    heard: Vec<String>,
}

impl Manager {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        let socket = UnixDatagram::bind(folder.0.join("notify")).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            folder,
            socket,
            heard: Vec::new(),
        }
    }

    fn watch(&self, command: &mut Command) {
        command
            .env("NOTIFY_SOCKET", self.folder.0.join("notify"))
            .env("WATCHDOG_USEC", "400000")
            .env_remove("WATCHDOG_PID");
    }

    /// Takes all messages that wait, unread.
    fn forget_what_waits(&self) {
        self.socket.set_nonblocking(true).unwrap();
        while self.socket.recv(&mut [0; 100]).is_ok() {}
        self.socket.set_nonblocking(false).unwrap();
    }

    /// Waits for a message that begins so, but not for ever: signs of life go on coming.
    fn hear(&mut self, begin: &str) -> String {
        let mut bytes = [0; 4096];
        let end = Instant::now() + PATIENCE;
        loop {
            let len = self.socket.recv(&mut bytes);
            let len = len.unwrap_or_else(|err| panic!("{begin}: {err} after {:?}", self.heard));
            assert!(Instant::now() < end, "{begin} is not in {:?}", self.heard);
            let message = String::from_utf8(bytes[..len].to_vec()).unwrap();
            self.heard.push(message.clone());
            if message.starts_with(begin) {
                return message;
            }
        }
    }
}

/// Ends with its guard.
struct Running(Child);

impl Running {
    fn end(&mut self) -> Option<i32> {
        kill(Pid::from_raw(self.0.id().cast_signed()), Signal::SIGTERM).unwrap();
        self.0.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_collector_tells_how_it_goes_from_readiness_to_its_end() {
    let mut manager = Manager::new("collect");
    let mut command = Command::new(places::hostint());
    command
        .args(["collect", "--listen", "127.0.0.1:0"])
        .env("HOSTINT_STORE", "none")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    manager.watch(&mut command);
    let mut collector = Running(command.spawn().unwrap());
    assert_eq!(manager.hear(""), "READY=1", "before all else");
    assert_eq!(
        manager.hear("STATUS="),
        "STATUS=0 exporters; 0 reports, 0 lost on the way"
    );
    manager.hear("WATCHDOG=1");
    manager.hear("WATCHDOG=1");
    assert_eq!(collector.end(), Some(0));
    manager.hear("STOPPING=1");
}

#[test]
fn a_mistake_is_told_before_readiness() {
    let manager = Manager::new("mistake");
    let mut command = Command::new(places::hostint());
    // Were it none, a name that no interface has would still keep the sink from this machine's traffic.
    let mistake = ["sink", "--dev", "hint-none0", "--dscp-mask", "0"];
    command.args(mistake).stdin(Stdio::null());
    manager.watch(&mut command);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    manager.socket.set_nonblocking(true).unwrap();
    let heard = manager.socket.recv(&mut [0; 100]);
    assert!(heard.is_err(), "a service that never was ready");
}

#[test]
fn a_status_is_told_once_and_a_sign_of_life_to_a_watchdog_only() {
    let mut manager = Manager::new("life");
    let address = manager.folder.0.join("notify").into_os_string();
    let mut notify = Notify::new(Some(address.clone()), None);
    notify.alive();
    notify.ready();
    notify.status("sink on eth0".into());
    notify.status("sink on eth0".into());
    notify.status("two\nlines".into());
    let mut watched = Notify::new(Some(address), Some("60000000".into()));
    watched.alive();
    watched.alive();
    notify.stopping();
    manager.hear("STOPPING=1");
    let wanted = [
        "READY=1",
        "STATUS=sink on eth0",
        "STATUS=two lines",
        "WATCHDOG=1",
        "STOPPING=1",
    ];
    assert_eq!(manager.heard, wanted);
}

#[test]
fn a_reload_says_when_it_began_and_when_it_is_over() {
    let mut manager = Manager::new("reload");
    let address = manager.folder.0.join("notify").into_os_string();
    let before_us = clock::monotonic_ns() / 1000;
    let mut notify = Notify::new(Some(address), None);
    for goes_on in [false, true, true, false, false] {
        notify.reload_goes_on(goes_on);
    }
    notify.stopping();
    let heard = manager.hear("RELOADING=1\n");
    let (_, at) = heard.split_once("\nMONOTONIC_USEC=").unwrap();
    let at_us: u64 = at.parse().unwrap();
    assert!(at_us >= before_us && at_us <= clock::monotonic_ns() / 1000);
    manager.hear("STOPPING=1");
    assert_eq!(manager.heard[1..], ["READY=1", "STOPPING=1"], "each once");
}

#[test]
fn what_a_busy_manager_did_not_take_is_said_again() {
    let mut manager = Manager::new("busy");
    let address = manager.folder.0.join("notify").into_os_string();
    let mut filler = Notify::new(Some(address.clone()), None);
    let mut notify = Notify::new(Some(address), None);
    notify.reload_goes_on(true);
    manager.hear("RELOADING=1\n");
    let queue: usize = read_to_string("/proc/sys/net/unix/max_dgram_qlen")
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    for _ in 0..=queue {
        filler.ready();
    }
    notify.status("source on eth0".into());
    notify.reload_goes_on(false);
    manager.forget_what_waits();
    notify.status("source on eth0".into());
    notify.reload_goes_on(false);
    manager.hear("STATUS=source on eth0");
    manager.hear("READY=1");
}

#[test]
fn a_manager_may_have_an_abstract_address() {
    let name = format!("hostint-service-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let socket = UnixDatagram::bind_addr(&address).unwrap();
    Notify::new(Some(format!("@{name}").into()), None).ready();
    let mut bytes = [0; 100];
    let len = socket.recv(&mut bytes).unwrap();
    assert_eq!(&bytes[..len], b"READY=1");
}

#[test]
fn what_is_no_address_leaves_the_daemon_alone() {
    for address in ["", "vsock:2:1", "/nowhere/there/is/no/socket", "@"] {
        let mut notify = Notify::new(Some(address.into()), Some("x".into()));
        notify.ready();
        notify.alive();
    }
    assert!(!Notify::new(None, None).listens());
}

#[test]
fn the_manual_lists_every_event_by_its_id() {
    let page = include_str!("../../man/hostint.8");
    let mut ids: Vec<&str> = Event::ALL.map(Event::id).to_vec();
    for id in &ids {
        assert!(id.len() == 32 && page.contains(id), "{id}");
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), Event::ALL.len(), "two events share an id");
}

mod root {
    use super::*;

    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use hostint_testing::netns::{Lab, await_that};
    use nix::sys::stat::fstat;

    #[test]
    fn the_sink_tells_what_it_strips_and_the_source_what_it_tags() {
        let lab = Lab::new();
        let mut manager = Manager::new("sink");
        let mut command = lab.b.command(
            places::hostint(),
            &["sink", "--dev", "b0", "--node-id", "2"],
        );
        manager.watch(&mut command);
        let mut sink = Running(command.stderr(Stdio::null()).spawn().unwrap());
        assert_eq!(manager.hear(""), "READY=1", "before all else");
        let line = manager.hear("STATUS=");
        assert!(line.starts_with("STATUS=sink on b0 (tc "), "{line}");
        assert!(
            line.ends_with("; 0 flows, 0 packets received, 0 lost"),
            "{line}"
        );

        let mut source_manager = Manager::new("source");
        let args = "source attach --dev a0 --node-id 1 --force --foreground";
        let args: Vec<&str> = args.split(' ').collect();
        let mut command = lab.a.command(places::hostint(), &args);
        source_manager.watch(&mut command);
        let mut source = Running(command.stderr(Stdio::null()).spawn().unwrap());
        assert_eq!(source_manager.hear(""), "READY=1", "before all else");
        lab.a.hostint("source add-dest 10.9.2.1");
        let wanted = "STATUS=source on a0; 1 of 1 peer strip, 0 packets tagged";
        source_manager.hear(wanted);
        await_that("the path is proved", || {
            let ways = lab.a.status()["source"]["peers"][0]["ways"].clone();
            ways.to_string().contains("udp")
        });

        lab.a
            .udp("10.9.1.1:5000")
            .send_to(b"one", "10.9.2.1:6000")
            .unwrap();
        source_manager.hear("STATUS=source on a0; 1 of 1 peer strip, 1 packet tagged");
        let flows = "; 1 flow, 1 packet received, 0 lost";
        await_that("the sink tells of the flow", || {
            manager.hear("STATUS=").ends_with(flows)
        });

        for manager in [&mut manager, &mut source_manager] {
            // There is no room for the last message where many wait.
            manager.forget_what_waits();
            manager.hear("WATCHDOG=1");
        }
        assert_eq!((sink.end(), source.end()), (Some(0), Some(0)));
        manager.hear("STOPPING=1");
        source_manager.hear("STOPPING=1");
    }

    #[test]
    fn reports_that_cannot_leave_are_told_once_and_so_is_the_end_of_it() {
        let lab = Lab::new();
        lab.b.sh("ip route add unreachable 192.0.2.9");
        let flags = "--node-id 2 --allow 10.9.1.0/24 --collector 192.0.2.9 --report-period 20ms";
        let sink = lab.b.sink(&format!("--dev b0 {flags}"));
        lab.a
            .hostint("source attach --dev a0 --encap over-tcp-udp --node-id 1 --force");
        lab.a.hostint("source add-dest --static 10.9.2.1");
        let from = lab.a.udp("10.9.1.1:5000");
        let send_until = |what: &str| {
            await_that(what, || {
                from.send_to(b"packet", "10.9.2.1:6000").unwrap();
                sink.stderr().contains(what)
            });
        };
        send_until("hostint: reports to collector 192.0.2.9:32766 are lost, ");
        lab.b
            .sh("ip route del unreachable 192.0.2.9; ip route add 192.0.2.9 dev lo");
        send_until("hostint: reports to collector 192.0.2.9:32766 leave again; ");
        let said = sink.stderr();
        assert_eq!(said.matches(" are lost, ").count(), 1, "{said}");
        assert!(
            said.contains(" in the last second: no way there (see ip route)"),
            "{said}"
        );
        lab.a.hostint("source detach");
    }

    /// Runs hostint with stderr leading to what it must take for the journal, and says what came there, and what
    /// came to journald's own socket if there is one.
    fn log_to_journal(journald: bool) -> (String, String) {
        let folder = Folder::new(if journald { "journald" } else { "stream" });
        let socket = UnixDatagram::bind(folder.0.join("socket")).unwrap();
        socket.set_nonblocking(true).unwrap();
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let stat = fstat(&theirs).unwrap();
        let mount = match journald {
            true => "mkdir -p /run/systemd/journal; mount --bind \"$1\" /run/systemd/journal;",
            false => "",
        };
        let line = format!("mount -t tmpfs none /run; {mount} exec \"$2\" sink --dscp-mask 0");
        let status = Command::new("unshare")
            .args(["--mount", "--net", "sh", "-ec", &line, "sh"])
            .arg(&folder.0)
            .arg(places::hostint())
            .env("JOURNAL_STREAM", format!("{}:{}", stat.st_dev, stat.st_ino))
            .stdin(Stdio::null())
            .stderr(std::os::fd::OwnedFd::from(theirs))
            .status();
        assert_eq!(status.unwrap().code(), Some(2));
        let (mut stream, mut bytes) = (String::new(), [0; 4096]);
        ours.read_to_string(&mut stream).unwrap();
        let len = socket.recv(&mut bytes).unwrap_or_default();
        (stream, String::from_utf8(bytes[..len].to_vec()).unwrap())
    }

    #[test]
    fn a_line_goes_to_the_journal_once_with_its_priority() {
        let (stream, entry) = log_to_journal(true);
        assert_eq!(stream, "", "journald has it already");
        // A field of several lines has its length before it.
        let len =
            "no interface given (try --dev eth0)\n--dscp-mask: a DSCP mask of 0 would mark every packet".len();
        let mut begin = b"MESSAGE\n".to_vec();
        begin.extend_from_slice(&(len as u64).to_le_bytes());
        begin.extend_from_slice(
            b"no interface given (try --dev eth0)\n--dscp-mask: a DSCP mask of 0",
        );
        assert!(entry.as_bytes().starts_with(&begin), "{entry:?}");
        let end = "\nPRIORITY=3\nSYSLOG_IDENTIFIER=hostint\n";
        assert!(entry.ends_with(end), "{entry:?}");

        let (stream, entry) = log_to_journal(false);
        assert_eq!(entry, "");
        assert!(
            stream.starts_with("<3>hostint: no interface given"),
            "{stream}"
        );
        assert!(
            stream.contains("\n<3>hostint: --dscp-mask: a DSCP mask of 0"),
            "{stream}"
        );
    }
}
