//! Under load, hosts survive restarts, crashes, upgrades and every other accident without losing a packet.
//!
//! HOSTINT_LONG=1 for the full counts: 100 restarts, 100 crashes, 50 upgrades, 1,000 operations. HOSTINT_OPERATIONS=100000
//! for more operations, from HOSTINT_TEST_SEED on.

/// These need root.
pub(crate) mod root {
    use std::time::{Duration, Instant};

    use hostint_testing::load::Load;
    use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or, pins_below, sh};
    use hostint_testing::next_version::make_other_version;
    use hostint_testing::places;
    use hostint_testing::random::{Random, env_number};

    fn count(short: usize, long: usize) -> usize {
        if std::env::var_os("HOSTINT_LONG").is_some() {
            long
        } else {
            short
        }
    }

    /// Both hosts watch each other, with leases on both sides.
    struct Pair {
        lab: Lab,
        sinks: [Option<Daemon>; 2],
    }

    /// One as a link of its own, the other one as on kernels without tcx.
    const SOURCES: [(usize, &str, &str); 2] = [
        (0, "--dev a0", "10.9.2.1"),
        (1, "--dev b0 --no-tcx", "10.9.1.1"),
    ];

    const SINKS: [&str; 2] = ["sink --dev a0 --node-id 1", "sink --dev b0 --node-id 2"];

    impl Pair {
        fn new() -> Self {
            let lab = Lab::new();
            let mut pair = Self {
                lab,
                sinks: [None, None],
            };
            for side in 0..2 {
                pair.start(side);
            }
            for (side, flags, dest) in SOURCES {
                let host = pair.host(side);
                host.hostint(&format!("source attach {flags}"));
                host.hostint(&format!("source add-dest {dest}"));
            }
            pair
        }

        fn host(&self, side: usize) -> &Host {
            [&self.lab.a, &self.lab.b][side]
        }

        fn start(&mut self, side: usize) {
            let daemon = self.host(side).start(SINKS[side], "sink attached");
            self.sinks[side] = Some(daemon);
        }

        fn load(&self) -> Load {
            Load::start(&self.lab.a, &self.lab.b, "10.9.1.1", "10.9.2.1")
        }

        /// Both sides strip what the other one tags: nothing is lost, nothing is counted twice or not at all.
        fn assert_counted(&self, what: &str) {
            for (from, to) in [(0, 1), (1, 0)] {
                let (source, sink) = (self.host(from), self.host(to));
                let counts = || {
                    (
                        sink.count("sink", "received"),
                        source.count("source", "tagged"),
                    )
                };
                await_that_or(
                    || counts().0 == counts().1,
                    || format!("{what}: stripped and tagged by {from}: {:?}", counts()),
                );
                assert_eq!(sink.count("sink", "lost"), 0, "{what}");
                assert_eq!(sink.count("sink", "not_allowed"), 0, "{what}");
            }
        }

        fn tagged(&self) -> u64 {
            self.lab.a.count("source", "tagged")
        }

        /// Packets are tagged again.
        fn await_tagging(&self, what: &str) {
            let before = self.tagged();
            await_that(&format!("{what}: tagging goes on"), || {
                self.tagged() > before
            });
        }
    }

    #[test]
    fn daemons_that_end_and_start_are_not_noticed() {
        let mut pair = Pair::new();
        let load = pair.load();
        pair.await_tagging("at first");
        for n in 0..count(4, 100) {
            let side = n % 2;
            assert_eq!(pair.sinks[side].take().unwrap().end(), Some(0));
            pair.start(side);
        }
        pair.await_tagging("after the last restart");
        load.end().assert_untouched("restarts");
        pair.assert_counted("restarts");
    }

    #[test]
    fn daemons_that_are_killed_are_not_noticed() {
        let mut pair = Pair::new();
        let load = pair.load();
        pair.await_tagging("at first");
        for n in 0..count(4, 100) {
            let side = n % 2;
            pair.sinks[side].take().unwrap().kill();
            pair.start(side);
        }
        pair.await_tagging("after the last crash");
        load.end().assert_untouched("crashes");
        pair.assert_counted("crashes");
    }

    #[test]
    fn versions_with_other_maps_take_over_from_each_other() {
        let mut pair = Pair::new();
        let load = pair.load();
        pair.await_tagging("at first");
        let mut counted = [0; 2];
        for n in 0..count(2, 50) {
            for (side, counted) in counted.iter_mut().enumerate() {
                assert_eq!(pair.sinks[side].take().unwrap().end(), Some(0));
                make_other_version(pair.host(side));
                pair.start(side);
                let host = pair.host(side);
                let stripped = host.count("sink", "received");
                assert!(stripped >= *counted, "{n}: {stripped} after {counted}");
                *counted = stripped;
                // Of links, and of maps.
                let folders = || std::fs::read_dir(host.pins()).unwrap().count();
                await_that_or(
                    || folders() == 2,
                    || format!("{n}: {:#?}", pins_below(&host.pins())),
                );
            }
        }
        pair.await_tagging("after the last upgrade");
        let seen = load.end();
        seen.assert_untouched("upgrades");
        pair.assert_counted("upgrades");
        for side in 0..2 {
            let host = pair.host(side);
            assert_eq!(
                host.hostint("source dests").lines().count(),
                1,
                "destinations stay"
            );
        }
    }

    #[test]
    fn a_full_disk_and_too_few_descriptors_harm_no_traffic() {
        let mut pair = Pair::new();
        let dir = std::env::temp_dir().join(format!("{}-disk", pair.lab.a.ns));
        let disk = dir.display();
        sh(&format!(
            "mkdir {disk}; mount -t tmpfs -o size=16k tmpfs {disk}"
        ));
        assert_eq!(pair.sinks[1].take().unwrap().end(), Some(0));
        let line = format!("{} --report-log {disk}/log --report-period 1ms", SINKS[1]);
        pair.sinks[1] = Some(pair.host(1).start(&line, "sink attached"));
        let load = pair.load();
        let daemon = |name: &str| pair.host(1).daemon_count(name);
        await_that("log lines are lost, and counted", || daemon("log_lost") > 0);
        let written = daemon("log_written");
        sh(&format!("mount -o remount,size=16m {disk}"));
        await_that("the log goes on", || daemon("log_written") > written);

        let pid = pair.host(0).status()["sink"]["daemon_pid"].to_string();
        sh(&format!("prlimit --pid {pid} --nofile=8:4096"));
        let said = || pair.sinks[0].as_ref().unwrap().stderr();
        await_that("the daemon says what it cannot do", || {
            said().contains("trying again")
        });
        sh(&format!("prlimit --pid {pid} --nofile=1024:4096"));
        await_that("and that it can again", || said().contains("again\n"));
        pair.await_tagging("descriptors are there again");
        load.end().assert_untouched("disk and descriptors");
        pair.assert_counted("disk and descriptors");
        pair.sinks[1].take().unwrap().end();
        sh(&format!("umount {disk}; rmdir {disk}"));
    }

    /// Programs, interfaces, qdiscs and pins of a host.
    fn traces(host: &Host) -> String {
        let links = host.sh(
            "ip -o -d link | sed 's/ prog.xdp id [0-9]*//'; tc qdisc; tc filter show dev a0 ingress; tc filter show dev a0 egress",
        );
        format!("{links}{:?}", pins_below(&host.pins()))
    }

    #[test]
    fn a_crash_at_any_moment_leaves_nothing_that_detach_does_not_remove() {
        let lab = Lab::new();
        let host = &lab.a;
        let before = traces(host);
        let (mut random, seed) = Random::from_env();
        for n in 0..count(24, 400) {
            let line = [
                "sink --dev a0 --node-id 1",
                "sink --dev a0 --node-id 1 --hook tc",
                "source attach --dev a0 --node-id 1 --force",
                "source attach --dev a0 --node-id 1 --force --no-tcx",
                "source attach --dev a0 --node-id 1 --force --superpackets stage",
                "transit attach --dev a0 --node-id 1",
                "transit attach --dev a0 --node-id 1 --no-tcx",
                "transit detach",
                "source detach",
                "sink detach",
            ][random.below(10)];
            let args: Vec<&str> = line.split(' ').collect();
            let mut child = host.command(places::hostint(), &args);
            let mut child = child.stderr(std::process::Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(random.below(250) as u64));
            child.kill().unwrap();
            child.wait().unwrap();
            if n % 4 == 3 {
                host.try_hostint("transit detach");
                host.try_hostint("source detach");
                host.try_hostint("sink detach");
                assert_eq!(traces(host), before, "seed {seed}, {n}: after {line}");
            }
        }
    }

    /// What may happen on a host.
    const OPERATIONS: [&str; 10] = [
        "restart",
        "kill",
        "upgrade",
        "attach",
        "destination",
        "mtu",
        "link",
        "address",
        "detach",
        "offload",
    ];

    #[test]
    fn streams_survive_whatever_is_done_to_both_hosts() {
        let (mut random, seed) = Random::from_env();
        println!("HOSTINT_TEST_SEED={seed}");
        let mut pair = Pair::new();
        let load = pair.load();
        let begun = Instant::now();
        for n in 0..env_number("HOSTINT_OPERATIONS", count(20, 1_000) as u64) {
            let side = random.below(2);
            let operation = OPERATIONS[random.below(OPERATIONS.len())];
            println!("{:?} {n}: {operation} on {side}", begun.elapsed());
            operate(&mut pair, side, operation, &mut random);
            let before = load.carried();
            await_that_or(
                || {
                    load.carried()
                        .iter()
                        .zip(before)
                        .all(|(now, before)| *now > before)
                },
                || {
                    format!(
                        "seed {seed}: after {operation} on {side} streams stall: {:?}, {:?}",
                        load.carried(),
                        before
                    )
                },
            );
        }
        pair.await_tagging("at last");
        // Datagrams that an interface which is down drops are nobody's fault.
        load.end().assert_right("random operations");
    }

    /// What hosts hold on to: memory of daemons in kB, their descriptors, maps and programs among them, pins.
    #[derive(Clone, Debug)]
    struct Held {
        memory_kb: u64,
        descriptors: usize,
        maps: usize,
        programs: usize,
        pins: usize,
    }

    impl Pair {
        /// What the daemons hold, when they do nothing for a moment: their duties open descriptors and close them.
        fn held(&self) -> Held {
            let counts = |held: &Held| (held.descriptors, held.maps, held.programs, held.pins);
            let mut last = self.sample();
            for _ in 0..100 {
                let next = self.sample();
                if counts(&next) == counts(&last) {
                    return next;
                }
                last = next;
            }
            last
        }

        fn sample(&self) -> Held {
            let mut held = Held {
                memory_kb: 0,
                descriptors: 0,
                maps: 0,
                programs: 0,
                pins: 0,
            };
            for side in 0..2 {
                let host = self.host(side);
                let pid = host.status()["sink"]["daemon_pid"].to_string();
                let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
                let line = status
                    .lines()
                    .find(|line| line.starts_with("VmRSS:"))
                    .unwrap();
                held.memory_kb += line
                    .split_whitespace()
                    .nth(1)
                    .unwrap()
                    .parse::<u64>()
                    .unwrap();
                held.descriptors += std::fs::read_dir(format!("/proc/{pid}/fd"))
                    .unwrap()
                    .count();
                held.pins += pins_below(&host.pins()).len();
                held.maps += self.descriptors(side, "bpf-map");
                held.programs += self.descriptors(side, "bpf-prog");
            }
            held
        }

        /// Descriptors of this kind that the daemon of a host has open.
        fn descriptors(&self, side: usize, kind: &str) -> usize {
            let pid = self.host(side).status()["sink"]["daemon_pid"].to_string();
            let links = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
            links
                .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
                .filter(|target| target.to_string_lossy().contains(kind))
                .count()
        }
    }

    #[test]
    fn nothing_grows_with_time() {
        let mut pair = Pair::new();
        let load = pair.load();
        let end = Instant::now() + Duration::from_secs(count(6, 1800) as u64);
        let use_it = |pair: &mut Pair| {
            let host = pair.host(0);
            host.hostint("source attach --dev a0");
            host.hostint("source del-dest 10.9.2.1");
            host.hostint("source add-dest 10.9.2.1");
            host.hostint("status");
        };
        for _ in 0..5 {
            use_it(&mut pair);
        }
        // A pass over a flow table opens what it needs, and keeps it.
        let sweeps = |pair: &Pair| [0, 1].map(|side| pair.host(side).daemon_count("sweeps"));
        let begun = sweeps(&pair);
        await_that("both went over their flow tables three times", || {
            let passes = sweeps(&pair).into_iter().zip(begun);
            passes.into_iter().all(|(now, begun)| now >= begun + 3)
        });
        let before = pair.held();
        println!("at first {before:?}");
        while Instant::now() < end {
            use_it(&mut pair);
        }
        let after = pair.held();
        println!("at last {after:?}");
        load.end().assert_untouched("a long time");
        let counts = |held: &Held| (held.descriptors, held.maps, held.programs, held.pins);
        assert_eq!(counts(&before), counts(&after));
        // Buffers reach their size in the first minutes.
        let slack_kb = 4096;
        assert!(
            after.memory_kb <= before.memory_kb + slack_kb,
            "{before:?} {after:?}"
        );
    }

    fn operate(pair: &mut Pair, side: usize, operation: &str, random: &mut Random) {
        let (_, flags, dest) = SOURCES[side];
        let dev = ["a0", "b0"][side];
        match operation {
            "restart" | "upgrade" => {
                assert_eq!(pair.sinks[side].take().unwrap().end(), Some(0));
                pair.start(side);
            }
            "kill" => {
                pair.sinks[side].take().unwrap().kill();
                pair.start(side);
            }
            "attach" => {
                let encap = ["over-tcp-udp", "extension-udp", "vxlan-gpe"][random.below(3)];
                let host = pair.host(side);
                host.hostint(&format!("source attach {flags} --encap {encap}"));
            }
            "destination" => {
                let host = pair.host(side);
                host.hostint(&format!("source del-dest {dest}"));
                host.hostint(&format!("source add-dest {dest}"));
            }
            "mtu" => {
                let mtu = [1500, 1480, 1400][random.below(3)];
                pair.host(side).sh(&format!("ip link set {dev} mtu {mtu}"));
                // Both ends of a link, else longer packets die there unnoticed.
                pair.lab.m.sh(&format!("ip link set m{side} mtu {mtu}"));
            }
            "link" => {
                // Routes by the interface go with it.
                let gateway = ["10.9.1.2", "10.9.2.2"][side];
                pair.host(side).sh(&format!(
                    "ip link set {dev} down; ip link set {dev} up; ip route replace default via {gateway}"
                ));
            }
            "address" => {
                pair.host(side).sh(&format!(
                    "ip addr add 10.9.9.{}/32 dev {dev} 2>/dev/null || true",
                    1 + random.below(250)
                ));
            }
            "offload" => {
                let state = ["on", "off"][random.below(2)];
                pair.host(side).sh(&format!(
                    "ethtool -K {dev} tx {state} gso {state} >/dev/null"
                ));
            }
            _ => {
                pair.host(side).hostint("sink detach");
                let mut daemon = pair.sinks[side].take().unwrap();
                await_that("the daemon of a detached sink ends", || daemon.has_ended());
                pair.start(side);
            }
        }
        std::thread::sleep(Duration::from_millis(random.below(100) as u64));
    }
}
