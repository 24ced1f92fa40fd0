//! The demo with real packets: a router loses some of them, and hostint reports them.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::network::{DEV, DemoNetwork, RIGHT, ROUTER_DEV};
use super::page::{self, PAGE_PORT};
use super::roles::DemoRoles;
use super::session::{INTERRUPTED, SLICE, print, say, stay, stays};
use super::traffic;
use crate::cli::{DemoArgs, exit};
use crate::datapath::demo_loss::DemoLoss;
use crate::os::privileges::{self, Capability};
use crate::os::{log, netdev, private_netns, signals};

/// The router loses each of a flow's tagged packets whose number is a multiple of this.
const DROP_EVERY: u32 = 100;
const LOSES_FOR: Duration = Duration::from_secs(1);
/// The flows are measured for this time before and after.
const AROUND: Duration = Duration::from_secs(1);

/// The source has its lease, and all losses are reported, within this time; or, on a slow machine, within the time that
/// the daemons took to be ready.
const PATIENCE: Duration = Duration::from_secs(20);

/// The folder of all that the demo keeps; /run is its own.
const FOLDER: &str = "/run/hostint-demo";
const FIRST_REPORTS: usize = 8;
const MOST_LOSSES: usize = 100;

/// What the demo needs: what the roles need, and to mount and to enter namespaces.
const NEEDED: [Capability; 5] = [
    Capability::CAP_BPF,
    Capability::CAP_NET_ADMIN,
    Capability::CAP_NET_RAW,
    Capability::CAP_PERFMON,
    Capability::CAP_SYS_ADMIN,
];

/// Shows hostint at work, and returns the exit code.
pub fn run(args: &DemoArgs) -> Result<u8> {
    let missing = privileges::missing(&NEEDED).context("cannot read capabilities")?;
    if !missing.is_empty() {
        return Ok(cannot_run(&format!("needs {}", missing.join(", "))));
    }
    let loss = match DemoLoss::load([traffic::UDP_PORT, traffic::TCP_PORT], DROP_EVERY) {
        Err(err) if err.kind() == std::io::ErrorKind::PermissionDenied => {
            return Ok(cannot_run("this kernel or container refuses BPF programs"));
        }
        loaded => loaded.context("cannot load the demo's program")?,
    };
    // Threads that are started later have the demo's own /run, too.
    private_netns::take_own_run().context("cannot mount a file system for the demo")?;
    signals::install(signals::Hangup::Ends).context("cannot handle signals")?;
    Demo::begin(loss)?.show(stays(args))
}

/// Says why the demo does not run here, and what does.
fn cannot_run(why: &str) -> u8 {
    let root = nix::unistd::geteuid().is_root();
    let sudo = if root { "" } else { "sudo, or " };
    log::error(format_args!(
        "the demo makes network namespaces and loads BPF programs: {why} (try {sudo}hostint demo --recorded, which \
         shows a recorded network and needs nothing)"
    ));
    if root { exit::NOTHING } else { exit::FAILURE }
}

/// The lines of the collector that are shown at the end.
#[derive(Default)]
struct ShownReports {
    first: Vec<String>,
    losses: Vec<String>,
    /// The packets that the loss reports tell of.
    lost: u64,
}

impl ShownReports {
    fn take(&mut self, line: String) {
        if line.contains(" LOSS ") {
            self.lost += packets_in(&line).unwrap_or_default();
            if self.losses.len() < MOST_LOSSES {
                self.losses.push(line);
            }
        } else if self.first.len() < FIRST_REPORTS {
            self.first.push(line);
        }
    }
}

/// The number of packets that a line tells of.
fn packets_in(line: &str) -> Option<u64> {
    let (before, _) = line.split_once(" packet")?;
    before.rsplit(' ').next()?.parse().ok()
}

/// The demo while it runs. What it is made of ends in this order.
struct Demo {
    roles: DemoRoles,
    network: DemoNetwork,
    loss: DemoLoss,
    reports: Arc<Mutex<ShownReports>>,
    page: String,
    patience: Duration,
}

impl Demo {
    fn begin(loss: DemoLoss) -> Result<Self> {
        say("two hosts, 10.77.1.1 and 10.77.2.1, and a router between them, as network namespaces");
        let bpffs = Path::new(FOLDER).join("bpf");
        std::fs::create_dir_all(&bpffs)
            .and_then(|()| private_netns::mount_bpffs(&bpffs))
            .context("cannot mount a BPF file system for the demo")?;
        let network = DemoNetwork::make()?;
        let page = page::serve(&network).context("cannot serve the page")?;
        let mut demo = Self {
            roles: DemoRoles::new(Path::new(FOLDER)),
            network,
            loss,
            reports: Arc::default(),
            page: format!("http://{page}/"),
            patience: PATIENCE,
        };
        demo.start_roles()?;
        Ok(demo)
    }

    fn start_roles(&mut self) -> Result<()> {
        say("a collector and a sink on the right, a sink and a source on the left");
        let Self { roles, network, .. } = self;
        let reports = Arc::clone(&self.reports);
        let collect = format!(
            "collect --listen {RIGHT} --store history.db --output /dev/stdout --http 127.0.0.1:{PAGE_PORT}"
        );
        roles.start(
            "the collector",
            Some(&network.right),
            (&collect, "serving http"),
            move |line| {
                let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
                reports.take(line);
            },
        )?;
        let right = format!("sink --dev {DEV} --node-id 2 --node-name right --collector {RIGHT}");
        let left = format!("sink --dev {DEV} --node-id 1 --node-name left --collector {RIGHT}");
        let ready = "sink attached";
        roles.start(
            "the sink on the right",
            Some(&network.right),
            (&right, ready),
            drop,
        )?;
        roles.start(
            "the sink on the left",
            Some(&network.left),
            (&left, ready),
            drop,
        )?;
        self.patience = PATIENCE.max(roles.await_ready()?);
        roles.run(Some(&network.left), &format!("source attach --dev {DEV}"))?;
        roles.run(Some(&network.left), &format!("source add-dest {RIGHT}"))?;
        self.await_that("no sink has answered the source", |demo| {
            let status = demo.status_of_left()?;
            let peers = status["source"]["peers"].as_array();
            let has_lease =
                |peer: &Value| peer["state"] == "granted" && !peer["proved_ago_ns"].is_null();
            Ok(peers.is_some_and(|peers| peers.iter().any(has_lease)))
        })
    }

    /// Looks again and again whether something holds, while the daemons run.
    fn await_that(&mut self, failure: &str, holds: impl Fn(&Self) -> Result<bool>) -> Result<()> {
        let begun = Instant::now();
        while !holds(self)? {
            ensure!(!signals::ending(), INTERRUPTED);
            let seconds = self.patience.as_secs();
            ensure!(
                begun.elapsed() < self.patience,
                "{failure} for {seconds} seconds"
            );
            stay(SLICE, || self.roles.check())?;
        }
        Ok(())
    }

    fn status_of_left(&self) -> Result<Value> {
        let text = self.roles.run(Some(&self.network.left), "status --json")?;
        serde_json::from_str(&text).context("cannot read the status of the left host")
    }

    /// The packets that the sink on the right reports as lost, of all flows.
    fn lost(&self) -> Result<u64> {
        let text = self.roles.run(Some(&self.network.right), "status --json")?;
        let status: Value =
            serde_json::from_str(&text).context("cannot read the status of the right host")?;
        let flows = status["sink"]["flows"].as_array();
        let lost = flows.into_iter().flatten();
        Ok(lost.filter_map(|flow| flow["lost"].as_u64()).sum())
    }

    fn stay(&mut self, time: Duration) -> Result<()> {
        stay(time, || self.roles.check())
    }

    fn show(mut self, stays: Duration) -> Result<u8> {
        say(
            "traffic: UDP every 2 ms and a TCP stream; the router drops every 100th packet for a second",
        );
        // Before Linux 6.6 that makes a qdisc, which may cost an interface packets at its first moment.
        self.network
            .router
            .enter(|| self.loss.begin(netdev::index_of(ROUTER_DEV)?)?.end())
            .context("cannot prepare the loss of packets at the router")?;
        traffic::start(&self.network).context("cannot send the demo's packets")?;
        self.stay(AROUND)?;
        let losing = self
            .network
            .router
            .enter(|| self.loss.begin(netdev::index_of(ROUTER_DEV)?))
            .context("cannot lose packets at the router")?;
        let mut loses = stay(LOSES_FOR, || self.roles.check());
        let begun = Instant::now();
        // On a slow machine so few packets leave in that time that none of them was to be lost.
        while loses.is_ok()
            && begun.elapsed() < self.patience
            && !signals::ending()
            && matches!(self.loss.dropped(), Ok(0))
        {
            loses = stay(SLICE, || self.roles.check());
        }
        // A filter is taken off in the namespace that it is in.
        self.network
            .router
            .enter(|| losing.end())
            .context("cannot end the loss of packets at the router")?;
        loses?;
        self.stay(AROUND)?;
        ensure!(!signals::ending(), INTERRUPTED);
        let (dropped, lost) = self.settle()?;
        self.print_reports();
        if !stays.is_zero() {
            let page = &self.page;
            say(&format!(
                "the collector's page: {page} (Ctrl-C ends the demo)"
            ));
        }
        say(&format!(
            "the router dropped {dropped} packets; hostint reports {lost} lost"
        ));
        self.stay(stays)?;
        Ok(if dropped == lost && dropped > 0 {
            exit::OK
        } else {
            exit::FAILURE
        })
    }

    /// Returns the packets that the router dropped and those that hostint reports, as soon as they are as many, and the
    /// collector has all reports of them.
    fn settle(&mut self) -> Result<(u64, u64)> {
        let begun = Instant::now();
        loop {
            let (dropped, lost) = (self.loss.dropped()?, self.lost()?);
            let is_settled = dropped == lost && self.reports().lost >= lost;
            if is_settled || begun.elapsed() > self.patience || signals::ending() {
                return Ok((dropped, lost));
            }
            self.stay(SLICE)?;
        }
    }

    fn reports(&self) -> MutexGuard<'_, ShownReports> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn print_reports(&self) {
        let reports = self.reports();
        say("the first reports that the collector received");
        reports.first.iter().for_each(|line| print(line));
        say("all loss reports");
        reports.losses.iter().for_each(|line| print(line));
    }
}
