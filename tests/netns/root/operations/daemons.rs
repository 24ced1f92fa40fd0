//! Both hosts with their daemons: what administrators do to them at random.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use hostint::host::source::dests::{unwatch, watch};
use hostint::host::source::open_list;
use hostint::host::source::places::find_places;
use hostint_testing::netns::{Daemon, Host, Lab, await_that};
use hostint_testing::random::Random;
use hostint_testing::watched_pair::is_settled;
use nix::sys::signal::Signal;

use super::datagrams::OfPort;
use super::machines::DEVICES;
use super::sums::Sums;
use super::{ADDRESSES, PORT};

/// The daemons, their config files, and which of them stand still.
pub struct Daemons {
    hosts: [Host; 2],
    sinks: [Option<Daemon>; 2],
    /// They send option 114.
    tcp: [Option<Daemon>; 2],
    configs: [PathBuf; 2],
    are_paused: [bool; 2],
}

impl Daemons {
    /// Each host watches the other one, and both have proved their paths.
    pub fn start(lab: &Lab) -> Self {
        let hosts = [lab.a.clone(), lab.b.clone()];
        let configs = [0, 1].map(|side: usize| {
            std::env::temp_dir().join(format!("{}-operations.toml", hosts[side].ns))
        });
        let mut this = Self {
            hosts,
            sinks: [None, None],
            tcp: [None, None],
            configs,
            are_paused: [false; 2],
        };
        for (side, dev) in DEVICES.into_iter().enumerate() {
            this.configure(side, 1000);
            this.begin(side);
            this.hosts[side].hostint(&format!("source attach --dev {dev} --superpackets encap"));
        }
        for side in 0..2 {
            let to = ADDRESSES[1 - side];
            this.hosts[side].hostint(&format!("source add-dest {to}"));
        }
        await_that("both hosts prove their paths", || {
            this.hosts.iter().all(is_settled)
        });
        this
    }

    /// Both hosts send option 114, on all connections.
    pub fn with_option_114(mut self) -> Self {
        for side in 0..2 {
            self.begin_tcp(side);
        }
        self
    }

    fn begin_tcp(&mut self, side: usize) {
        let line = "tcp --option all --option-period 1ms --report end";
        self.tcp[side] = Some(self.hosts[side].start(line, "connections are watched"));
    }

    pub fn operate(&mut self, kind: &str, random: &mut Random) {
        match kind {
            "host: watchlist" => self.watch(random),
            "host: reload" => self.reload(random),
            "host: pause or go on" => self.pause(random),
            "host: attach" => self.reattach(random),
            "host: restart" => self.restart(random),
            "host: restart of tcp" => self.restart_tcp(random),
            _ => unreachable!("{kind}"),
        }
    }

    fn configure(&self, side: usize, loss_timeout_ms: usize) {
        let (dev, node) = (DEVICES[side], side + 1);
        let text = format!(
            "[sink]\ndev = [\"{dev}\"]\nnode-id = {node}\nloss-timeout = \"{loss_timeout_ms}ms\"\n"
        );
        std::fs::write(&self.configs[side], text).unwrap();
    }

    fn begin(&mut self, side: usize) {
        let line = format!("sink --config {}", self.configs[side].display());
        self.sinks[side] = Some(self.hosts[side].start(&line, "sink attached"));
    }

    fn signal(&self, side: usize, signal: Signal) {
        self.sinks[side].as_ref().unwrap().signal(signal);
    }

    /// A destination is watched no more, or again.
    fn watch(&mut self, random: &mut Random) {
        let side = random.below(2);
        let is_watched = !random.one_in(3);
        self.resume(side);
        let names = [ADDRESSES[1 - side].to_owned()];
        self.hosts[side].enter(|| {
            let (pins, list) = open_list(None).unwrap();
            let _changing = pins.change().unwrap();
            if is_watched {
                watch(&list, &find_places(&names).unwrap(), false).unwrap();
            } else {
                unwatch(&pins, &list, &names).unwrap();
            }
        });
    }

    /// The config file is changed and read again.
    fn reload(&self, random: &mut Random) {
        let side = random.below(2);
        self.configure(side, 300 + random.below(2000));
        self.signal(side, Signal::SIGHUP);
    }

    /// The daemon stands still, or goes on.
    fn pause(&mut self, random: &mut Random) {
        let side = random.below(2);
        let signal = [Signal::SIGSTOP, Signal::SIGCONT][usize::from(self.are_paused[side])];
        self.signal(side, signal);
        self.are_paused[side] = !self.are_paused[side];
    }

    /// A daemon that stands still may hold the lock that changes wait for.
    fn resume(&mut self, side: usize) {
        self.signal(side, Signal::SIGCONT);
        self.are_paused[side] = false;
    }

    /// The source is attached again.
    fn reattach(&mut self, random: &mut Random) {
        let side = random.below(2);
        let encap = random.pick(&["options", "tunnel"]);
        self.resume(side);
        let dev = DEVICES[side];
        let dest = ADDRESSES[1 - side];
        let host = &self.hosts[side];
        host.hostint(&format!("source attach --dev {dev} --encap {encap}"));
        host.hostint(&format!("source add-dest {dest}"));
    }

    /// The daemon ends, in order or killed, and starts.
    fn restart(&mut self, random: &mut Random) {
        let side = random.below(2);
        self.resume(side);
        let mut daemon = self.sinks[side].take().unwrap();
        if random.one_in(2) {
            daemon.kill();
        } else {
            assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
        }
        std::thread::sleep(Duration::from_millis(random.below(300) as u64));
        self.begin(side);
    }

    /// The view of TCP connections ends, in order or killed, and begins again on connections that run.
    fn restart_tcp(&mut self, random: &mut Random) {
        let side = random.below(2);
        let Some(mut daemon) = self.tcp[side].take() else {
            return;
        };
        if random.one_in(2) {
            daemon.kill();
        } else {
            assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
        }
        self.begin_tcp(side);
    }

    /// Every daemon runs and serves.
    pub fn heal(&mut self) {
        for side in 0..2 {
            self.resume(side);
            let daemon = self.sinks[side].as_mut().unwrap();
            assert!(!daemon.has_ended(), "{}", daemon.stderr());
        }
    }

    /// No program dropped or broke a packet, and no flow lost more than is missing. Gives back the packets that the sinks
    /// say were lost.
    pub fn finish(
        self,
        what: &str,
        of_ports: &BTreeMap<(usize, u16), OfPort>,
        sums: &mut Sums,
    ) -> u64 {
        let mut lost_in_all = 0;
        for (host, tcp) in self.hosts.iter().zip(&self.tcp) {
            if tcp.is_some() {
                let option = &host.status()["tcp"]["option"];
                for count in ["requests", "samples", "off"] {
                    let name = format!("option 114: {count} since the daemon began");
                    sums.add(&name, option[count].as_u64().unwrap());
                }
            }
        }
        for (side, host) in self.hosts.iter().enumerate() {
            assert_eq!(host.count("source", "dropped"), 0, "{what}");
            assert_eq!(host.count("sink", "broken"), 0, "{what}");
            for flow in host.status()["sink"]["flows"].as_array().unwrap() {
                let of_flow = &flow["flow"];
                if of_flow["dport"] != PORT || of_flow["protocol"] != "udp" {
                    continue;
                }
                let source_port = of_flow["sport"].as_u64().unwrap() as u16;
                let of_port = of_ports.get(&(1 - side, source_port));
                let of_port = of_port.unwrap_or_else(|| panic!("{what}: unknown {flow}"));
                let missing = of_port.sent - of_port.arrived;
                let lost = flow["lost"].as_u64().unwrap();
                assert!(lost <= missing, "{what}: {missing} are missing, {flow}");
                sums.add("flows of datagrams whose loss was compared", 1);
            }
            let lost = host.count("sink", "lost");
            lost_in_all += lost;
            sums.add("packets tagged", host.count("source", "tagged"));
            sums.add("packets stripped", host.count("sink", "received"));
            sums.add("packets lost, by the sinks", lost);
        }
        lost_in_all
    }
}

impl Drop for Daemons {
    fn drop(&mut self) {
        for config in &self.configs {
            let _ = std::fs::remove_file(config);
        }
    }
}
