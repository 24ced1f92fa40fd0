//! Drops and hops carry the names of the pods and containers behind interfaces, as far as the host itself can know them.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use hostint::os::cgroup;
use hostint_testing::netns::{Daemon, Host, Lab, await_that_or, sh};
use hostint_testing::scratch::Folder;
use serde_json::Value;

use crate::exchange::exchange_udp;

const ID: &str = "4f2a91c07be3d1f06a5c88e2b7904f2a91c07be3d1f06a5c88e2b7904f2a91c0";

/// A process in a namespace and in a cgroup as a container engine would make it. Both go with this value.
struct Contained {
    process: Child,
    folders: Vec<PathBuf>,
}

impl Contained {
    fn start(host: &Host, cgroup_path: &str) -> Self {
        let netns = format!("--net=/run/netns/{}", host.ns);
        Self::start_by(&["nsenter", &netns], cgroup_path)
    }

    /// In a network namespace of its own, which no file names.
    fn start_unnamed(cgroup_path: &str) -> Self {
        Self::start_by(&["unshare", "--net"], cgroup_path)
    }

    fn start_by(enter: &[&str], cgroup_path: &str) -> Self {
        let mut folder = cgroup::root().expect("cgroup2").to_owned();
        let mut folders = Vec::new();
        for part in cgroup_path.split('/') {
            folder.push(part);
            std::fs::create_dir_all(&folder).unwrap();
            folders.push(folder.clone());
        }
        let procs = folder.join("cgroup.procs");
        let line = format!("echo $$ > {}; exec sleep 1000", procs.display());
        // Not by ip netns exec, which hides the cgroups.
        let process = Command::new(enter[0])
            .args(&enter[1..])
            .args(["sh", "-ec", &line])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self { process, folders }
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        for folder in self.folders.iter().rev() {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// A host behind m, by an interface of this name there; it is 10.9.3.1.
fn container(lab: &Lab, dev: &str) -> Host {
    let host = lab.host("c");
    let (m, c) = (&lab.m.ns, &host.ns);
    sh(&format!(
        "ip -n {m} link add {dev} type veth peer name c0 netns {c}
         ip -n {m} addr add 10.9.3.2/24 dev {dev}; ip -n {m} link set {dev} up
         ip -n {c} addr add 10.9.3.1/24 dev c0; ip -n {c} link set c0 up
         ip -n {c} route add default via 10.9.3.2"
    ));
    host
}

fn told(daemon: &Daemon, kind: &str, port: u16) -> Option<Value> {
    let text = daemon.stdout();
    let lines = text.lines();
    let mut all = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    all.rfind(|line| line["kind"] == kind && line["flow"]["dport"] == port)
}

/// Sends to the container until the last line about it has what is expected.
fn await_line(lab: &Lab, to: &Host, daemon: &Daemon, port: u16, has: impl Fn(&Value) -> bool) {
    let from = lab.a.udp("10.9.1.1:5000");
    let to = to.udp(&format!("10.9.3.1:{port}"));
    await_that_or(
        || {
            exchange_udp(&from, &to, 5, 100);
            told(daemon, "host-hop", port).is_some_and(|line| has(&line))
        },
        || format!("{:?}: {}", told(daemon, "host-hop", port), daemon.stderr()),
    );
}

fn postcards(lab: &Lab, flags: &str) -> Daemon {
    lab.m.start(
        &format!("postcards --hops --dev m0,v* --json --report-period 100ms {flags}"),
        "are reported",
    )
}

#[test]
fn a_container_has_its_name_in_hops_drops_status_and_history() {
    let lab = Lab::new();
    let folder = Folder::create();
    let store = folder.path().join("store.db");
    let store = store.display();
    let collect = lab.b.start(
        &format!("collect --listen 10.9.2.1 --store {store}"),
        "collecting",
    );
    let daemon = postcards(&lab, "--drops --collector 10.9.2.1 --node-id 7");
    let there = container(&lab, "v1");
    let uid = format!("{:08x}-8a44-4f1f-9a53-0d2f6f1f7a11", std::process::id());
    // Its upper folders are this test's alone: another one's end would take shared ones away.
    let path = format!("hostint-test-{}/kubepods/burstable/pod{uid}/{ID}", lab.m.ns);
    let _process = Contained::start(&there, &path);
    let pod = format!("pod/{uid}");
    // The container began after its network: the name of that was the best one until then.
    await_line(&lab, &there, &daemon, 7001, |line| {
        line["out_pod"] == pod.as_str() && line["in_interface"] == "m0"
    });

    // A firewall behind the container.
    lab.m.sh(
        "nft add table ip lab; nft 'add chain ip lab f { type filter hook forward priority 0; }'
         nft add rule ip lab f udp dport 7002 drop",
    );
    let from = there.udp("10.9.3.1:5000");
    for _ in 0..9 {
        from.send_to(b"dropped", "10.9.1.1:7002").unwrap();
    }
    await_that_or(
        || told(&daemon, "host-drop", 7002).is_some(),
        || daemon.stdout(),
    );
    let drop = told(&daemon, "host-drop", 7002).unwrap();
    assert_eq!(drop["in_pod"], pod.as_str(), "{drop}");

    let status = || -> Value {
        let output = lab.m.try_hostint("status --json --flows 0");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    // Both of the lab's other hosts are namespaces with names.
    await_that_or(
        || status()["postcards"]["named_links"] == 3,
        || format!("{:#}", status()),
    );

    let history = |what: &str| {
        let line = format!("history {what} --store {store}");
        let output = lab.b.try_hostint(&line);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let row = format!("{pod}  NETFILTER_DROP");
    await_that_or(
        || history("drops --by pod").contains(&row),
        || format!("{}{}", history("drops --by pod"), collect.stderr()),
    );
    await_that_or(
        || history("hops").contains(&format!("v1 ({pod})")),
        || history("hops"),
    );
}

#[test]
fn a_namespace_has_its_name_and_names_can_be_left_out() {
    let lab = Lab::new();
    let mut daemon = postcards(&lab, "");
    let there = container(&lab, "v1");
    let name = format!("netns/{}", there.ns);
    await_line(&lab, &there, &daemon, 7001, |line| {
        line["out_pod"] == name.as_str()
    });
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());

    let mut daemon = postcards(&lab, "--no-pods");
    await_line(&lab, &there, &daemon, 7002, |_| true);
    let line = told(&daemon, "host-hop", 7002).unwrap();
    assert_eq!(line["out_interface"], "v1", "{line}");
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    assert!(!daemon.stdout().contains("_pod"), "{}", daemon.stdout());
}

#[test]
fn drops_in_the_network_of_a_container_are_its_own() {
    let lab = Lab::new();
    let there = container(&lab, "v1");
    let _process = Contained::start(
        &there,
        &format!("hostint-test-{}/docker-{ID}.scope", there.ns),
    );
    let daemon = lab.m.start(
        "postcards --drops --netns all --json --report-period 100ms",
        "drops are reported",
    );
    let from = lab.a.udp("10.9.1.1:5000");
    // Nobody listens there.
    await_that_or(
        || {
            let _ = from.send_to(b"refused", "10.9.3.1:7003");
            told(&daemon, "host-drop", 7003)
                .is_some_and(|line| line["pod"] == "docker/4f2a91c07be3")
        },
        || {
            format!(
                "{:?}: {}",
                told(&daemon, "host-drop", 7003),
                daemon.stderr()
            )
        },
    );
}

#[test]
fn drops_in_the_network_of_a_container_that_no_file_names_are_its_own() {
    let lab = Lab::new();
    let daemon = lab.m.start(
        "postcards --drops --netns all --json --report-period 100ms",
        "drops are reported",
    );
    let path = format!("hostint-test-{}u/docker-{ID}.scope", lab.m.ns);
    let contained = Contained::start_unnamed(&path);
    let (m, pid) = (&lab.m.ns, contained.process.id());
    let inode = |path: &str| std::fs::read_link(path).ok();
    let (own, other) = ("/proc/self/ns/net", format!("/proc/{pid}/ns/net"));
    await_that_or(
        || inode(&other).is_some_and(|found| Some(found) != inode(own)),
        || format!("{other} is that of the test"),
    );
    sh(&format!(
        "ip -n {m} link add v1 type veth peer name c0 netns {pid}
         ip -n {m} addr add 10.9.3.2/24 dev v1; ip -n {m} link set v1 up
         nsenter --net=/proc/{pid}/ns/net ip addr add 10.9.3.1/24 dev c0
         nsenter --net=/proc/{pid}/ns/net ip link set c0 up
         nsenter --net=/proc/{pid}/ns/net ip route add default via 10.9.3.2"
    ));
    let from = lab.a.udp("10.9.1.1:5000");
    await_that_or(
        || {
            let _ = from.send_to(b"refused", "10.9.3.1:7004");
            told(&daemon, "host-drop", 7004)
                .is_some_and(|line| line["pod"] == "docker/4f2a91c07be3")
        },
        || {
            format!(
                "{:?}: {}",
                told(&daemon, "host-drop", 7004),
                daemon.stderr()
            )
        },
    );
}
