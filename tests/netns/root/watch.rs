//! The full-screen view in a real terminal: its content, and how it leaves the terminal.

use std::process::{Child, Command, Output, Stdio};

use hostint_testing::netns::{Host, Lab, await_that, await_that_or};
use hostint_testing::places;
use hostint_testing::scratch::Folder;
use hostint_testing::watched_pair::is_settled;

use crate::exchange::exchange_udp;

/// A terminal on a host, with a shell in it.
struct Tmux<'a> {
    host: &'a Host,
    server: Child,
}

impl<'a> Tmux<'a> {
    fn start(host: &'a Host, width: u16, height: u16) -> Self {
        // No daemon: hostint finds the BPF file system by way of the processes that started it.
        let server = Self::command(host, &["-f", "/dev/null", "-D"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let tmux = Self { host, server };
        let size = [width.to_string(), height.to_string()];
        let session = [
            "new-session",
            "-d",
            "-s",
            "w",
            "-x",
            &size[0],
            "-y",
            &size[1],
            "sh",
        ];
        await_that("a terminal", || tmux.run(&session).status.success());
        tmux
    }

    fn command(host: &Host, args: &[&str]) -> Command {
        let args = [&["-L", &host.ns], args].concat();
        let mut command = host.command("tmux", &args);
        command.env("LC_ALL", "C.UTF-8").env_remove("TMUX");
        command.env("PS1", "$ ").env_remove("ENV");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        Self::command(self.host, &[&["-N"], args].concat())
            .output()
            .unwrap()
    }

    fn keys(&self, keys: &[&str]) {
        let output = self.run(&[&["send-keys", "-t", "w"], keys].concat());
        assert!(output.status.success(), "{output:?}");
    }

    fn line(&self, line: &str) {
        self.keys(&["-l", line]);
        self.keys(&["Enter"]);
    }

    fn screen(&self) -> String {
        let output = self.run(&["capture-pane", "-p", "-t", "w"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn ask(&self, format: &str) -> String {
        let output = self.run(&["display-message", "-p", "-t", "w", format]);
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn await_words(&self, what: &str, words: &[&str]) {
        await_that_or(
            || {
                let screen = self.screen();
                words.iter().all(|word| screen.contains(word))
            },
            || format!("never happened: {what}: {words:?} in\n{}", self.screen()),
        );
    }

    /// The shell has the terminal again, as it was.
    fn await_restored(&self, what: &str) {
        await_that(&format!("{what}: the screen is given back"), || {
            self.ask("#{alternate_on} #{cursor_flag}") == "0 1"
        });
        self.line("echo modes $(stty -a | tr ' ' '\\n' | grep -cE '^(icanon|echo|isig|opost);?$')");
        self.await_words(what, &["modes 4"]);
        self.line("printf '\\033[2J\\033[H'");
        await_that(&format!("{what}: an empty screen"), || {
            !self.screen().contains("modes 4")
        });
    }

    fn hostint_pid(&self) -> String {
        let shell = self.ask("#{pane_pid}");
        self.host.sh(&format!("pgrep -P {shell}")).trim().to_owned()
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn flows_and_their_loss_are_on_the_screen_and_the_terminal_is_given_back() {
    let lab = Lab::new();
    let tmux = Tmux::start(&lab.b, 120, 24);
    let watch = format!("{} status --watch=0.1", places::hostint());
    tmux.line(&watch);
    tmux.await_words("a host with nothing", &["hostint does not run"]);

    let _sinks = lab.tag("");
    tmux.await_words(
        "a sink that comes is seen",
        &["received 0/s", "no flow has arrived yet"],
    );
    lab.drop_packets("udp dport 6000 numgen inc mod 4 < 1");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    let send = |n: u32| {
        for _ in 0..n {
            from.send_to(&[7; 64], "10.9.2.1:6000").unwrap();
        }
    };
    send(1000);
    tmux.await_words(
        "the flow with its loss",
        &["udp 10.9.1.1:5000 > 10.9.2.1:6000", "25.0%"],
    );
    tmux.keys(&["-l", "/6001"]);
    tmux.await_words("a filter", &["no flow has all words", "/6001"]);
    tmux.keys(&["BSpace"]);
    tmux.keys(&["-l", "0"]);
    tmux.keys(&["Enter"]);
    tmux.await_words("another filter", &["Flows 1 ", "udp 10.9.1.1:5000"]);
    tmux.keys(&["Enter"]);
    tmux.await_words(
        "the flow's detail",
        &["last interval", "loss in all 25.0%", "pkt/s"],
    );
    tmux.run(&["resize-window", "-t", "w", "-x", "60", "-y", "15"]);
    tmux.await_words("a small terminal", &["last interval", "received 750"]);
    tmux.keys(&["Escape"]);
    tmux.keys(&["2"]);
    tmux.await_words("counters", &["received", "lost", "250"]);

    tmux.keys(&["q"]);
    tmux.await_restored("q");
    drop(to);
}

#[test]
fn a_daemon_that_is_killed_and_starts_anew_is_seen_and_flows_go_on() {
    let lab = Lab::new();
    let [_a, mut sink] = lab.tag("");
    let (from, _to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    let send = |n: u32| {
        for _ in 0..n {
            from.send_to(&[7; 64], "10.9.2.1:6000").unwrap();
        }
    };
    let tmux = Tmux::start(&lab.b, 120, 24);
    tmux.line(&format!("{} status --watch=0.1", places::hostint()));
    send(70);
    let flow = "udp 10.9.1.1:5000 > 10.9.2.1:6000";
    let first = format!("daemon {}", sink.pid());
    tmux.await_words("the daemon and a flow", &[&first, flow]);

    sink.kill();
    tmux.await_words("it is gone, the flow is there", &["NO DAEMON", flow]);
    send(30);

    let sink = lab.b.sink("--dev b0 --node-id 2");
    let second = format!("daemon {}", sink.pid());
    tmux.await_words("the next one", &[&second, flow]);
    tmux.keys(&["Enter"]);
    tmux.await_words("no packet was missed", &["received 100", "loss in all 0"]);
    tmux.keys(&["q"]);
    tmux.await_restored("q");
}

#[test]
fn however_it_ends_the_terminal_is_given_back() {
    let lab = Lab::new();
    let tmux = Tmux::start(&lab.b, 80, 24);
    let watch = format!("{} status --watch=0.1", places::hostint());
    let nothing = ["hostint does not run"];
    for signal in ["TERM", "INT", "HUP"] {
        tmux.line(&watch);
        tmux.await_words("it begins", &nothing);
        lab.b.sh(&format!("kill -{signal} {}", tmux.hostint_pid()));
        tmux.await_restored(signal);
    }
    for stop in ["Ctrl-Z", "SIGTSTP"] {
        tmux.line(&watch);
        tmux.await_words("it begins", &nothing);
        if stop == "Ctrl-Z" {
            tmux.keys(&["C-z"]);
        } else {
            lab.b.sh(&format!("kill -TSTP {}", tmux.hostint_pid()));
        }
        tmux.await_restored(stop);
        tmux.line("fg");
        tmux.await_words("it goes on", &nothing);
        tmux.keys(&["C-c"]);
        tmux.await_restored("Ctrl-C");
    }
}

#[test]
fn without_a_terminal_it_is_lines_of_json_or_an_error() {
    let lab = Lab::new();
    let output = lab.b.try_hostint("status --watch");
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.contains("no terminal") && stderr.contains("--watch --json"),
        "{stderr}"
    );

    let _sink = lab.b.sink("--dev b0 --node-id 2");
    let output = lab
        .b
        .command(
            "bash",
            &[
                "-c",
                &format!(
                    "{} status --watch 0.1 --json | head -n 3; exit ${{PIPESTATUS[0]}}",
                    places::hostint()
                ),
            ],
        )
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "a reader that leaves is no failure"
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(lines.lines().count(), 3);
    for line in lines.lines() {
        let status: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(status["schema"], "hostint.status/1");
        assert_eq!(status["node_id"], 2);
    }
}

#[test]
fn the_way_of_a_flow_is_on_the_screen() {
    let lab = Lab::new();
    let folder = Folder::create();
    let store = folder.file("history.db").display().to_string();
    let collect = format!("collect --listen 10.9.2.1 --store {store}");
    let _collect = lab.b.start(&collect, "collecting on");
    let sink = |host: &Host, dev: &str, node: u8| {
        host.leasing_sink(&format!(
            "--dev {dev} --node-id {node} --collector 10.9.2.1 --summary-period 1s"
        ))
    };
    let _sinks = [sink(&lab.a, "a0", 1), sink(&lab.b, "b0", 2)];
    lab.a.hostint("source attach --dev a0 --max-hops 1");
    lab.a.hostint("source add-dest 10.9.2.1");
    let hop = "transit --dev m0,m1 --node-id 9 --node-name leaf --collector 10.9.2.1";
    let _hop = lab.m.start(hop, "transit hop attached to m1");
    await_that("the source knows what passes", || is_settled(&lab.a));
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    await_that("packets come over the hop", || {
        exchange_udp(&from, &to, 10, 300);
        lab.m.count("transit", "pushed") > 100
    });
    let tmux = Tmux::start(&lab.b, 140, 46);
    let watch = format!("{} status --watch=0.1", places::hostint());
    tmux.line(&watch);
    tmux.await_words("the flow", &["udp 10.9.1.1:5000 > 10.9.2.1:6000"]);
    tmux.keys(&["w"]);
    tmux.await_words("what the sink counted", &[" > 9 > ", "hop    9 port "]);
    tmux.keys(&["q"]);
    tmux.await_restored("q");
    tmux.line(&format!("{watch} --store {store}"));
    tmux.await_words("the flow again", &["udp 10.9.1.1:5000 > 10.9.2.1:6000"]);
    tmux.keys(&["w"]);
    // Packets that come before the clock of the hop is known have links without times.
    let is_known = || {
        exchange_udp(&from, &to, 10, 300);
        let screen = tmux.screen();
        let mut sums = screen.lines().filter(|line| line.starts_with("in all"));
        screen.contains("leaf (9) m0 -> m1") && sums.any(|line| line.contains(" us "))
    };
    await_that_or(is_known, || format!("no times are in\n{}", tmux.screen()));
    tmux.keys(&["q"]);
    tmux.await_restored("q with a history");
}
