//! Copies of packets that hostint's own sockets do not take are counted, and look like no drops of users' packets.

use std::mem::size_of_val;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use hostint_testing::netns::{Lab, await_that_or};
use hostint_testing::watched_pair::is_settled;
use nix::libc;
use serde_json::Value;

use crate::foreign::{Foreign, TC_OK};

const PINGS: u64 = 20;
const REFUSED: u64 = 7;
const REASON: &str = "SOCKET_FILTER";

/// Sends pings from a to b; how many were answered.
fn ping(lab: &Lab) -> String {
    let answered = lab.a.sh(&format!(
        "python3 -c '
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
s.settimeout(60)
answered = 0
for number in range({PINGS}):
    sum = 0xffff - (0x0800 + 7 + number)
    s.sendto(struct.pack(\"!BBHHH\", 8, 0, sum, 7, number), (\"10.9.2.1\", 0))
    while s.recv(2048)[20:] != struct.pack(\"!BBHHH\", 0, 0, sum + 0x0800, 7, number):
        pass
    answered += 1
print(answered)
'"
    ));
    answered.trim().to_owned()
}

/// The packets of the reason: those that are no loss, or the others.
fn packets(totals: &Value, ignored: bool) -> u64 {
    // A daemon that does not answer within a second is left out of the status.
    let all = totals["reasons"].as_array().into_iter().flatten();
    all.filter(|one| one["kernel_reason_name"] == REASON && one["ignored"] == ignored)
        .map(|one| one["packets"].as_u64().unwrap())
        .sum()
}

/// The kernel may hide some drops from the program.
fn is_refused(packets: u64) -> bool {
    (1..=REFUSED).contains(&packets)
}

fn drops(lab: &Lab) -> Value {
    let output = lab.b.try_hostint("status --json --flows 0");
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    status["postcards"]["drops"].clone()
}

/// An application that takes no datagram.
fn refuse_all(socket: &UdpSocket) {
    let mut code = [libc::sock_filter {
        code: (libc::BPF_RET | libc::BPF_K) as u16,
        jt: 0,
        jf: 0,
        k: 0,
    }];
    let program = libc::sock_fprog {
        len: code.len() as u16,
        filter: code.as_mut_ptr(),
    };
    // SAFETY: the program and its code live during the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const program).cast(),
            size_of_val(&program) as libc::socklen_t,
        )
    };
    assert_eq!(result, 0);
}

#[test]
fn pings_at_a_sink_are_no_drops_and_refused_datagrams_are() {
    let lab = Lab::new();
    let collector = lab
        .a
        .start("collect --json --listen 10.9.1.1", "collecting");
    let _sink = lab.b.leasing_sink("--dev b0 --node-id 2");
    let mut daemon = lab.b.start(
        "postcards --drops --json --collector 10.9.1.1",
        "drops are reported",
    );
    // Some sockets may have a copy of each ping: the kernel answers it all the same.
    assert_eq!(ping(&lab), PINGS.to_string());
    let refusing = lab.b.udp("10.9.2.1:7001");
    refuse_all(&refusing);
    let from = lab.a.udp("10.9.1.1:5000");
    for _ in 0..REFUSED {
        from.send_to(b"refused", "10.9.2.1:7001").unwrap();
    }
    await_that_or(
        || is_refused(packets(&drops(&lab), false)) && packets(&drops(&lab), true) > 0,
        || format!("{:#}", drops(&lab)),
    );
    let text = lab.b.hostint("status --all");
    let has = |words: &str| {
        let mut same = text
            .lines()
            .filter(|line| line.contains(REASON) && line.contains(words));
        same.next().is_some()
    };
    assert!(has("no loss, not reported") && has(" at "), "{text}");

    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    let all = daemon.json_lines();
    let mut told = all.iter().filter(|line| line["kind"] == "host-drop");
    let is_ping = |line: &Value| line["flow"]["protocol"] == 1;
    assert!(!told.any(is_ping), "{all:#?}");
    let totals = all.last().unwrap();
    assert!(
        totals["ignored"].as_u64() >= Some(packets(totals, true)),
        "{totals:#}"
    );
    let places = totals["places"].as_array().unwrap().iter();
    let mut refused = places.filter(|one| one["kernel_reason_name"] == REASON);
    assert!(
        refused.all(|one| one["ignored"] == true || is_refused(one["packets"].as_u64().unwrap())),
        "{totals:#}"
    );

    // Collectors are told the same.
    let sums = || {
        let all = collector.json_lines().into_iter();
        let told = all.filter(|line| line["schema"] == "hostint.drops/1");
        let sums = told.flat_map(|line| line["sums"].as_array().unwrap().clone());
        sums.filter(|sum| sum["kernel_reason_name"] == REASON)
            .collect::<Vec<Value>>()
    };
    let refused = |sum: &Value| sum["ignored"] != true;
    await_that_or(
        || sums().iter().any(refused) && !sums().iter().all(refused),
        || format!("{:#?}", collector.json_lines()),
    );
    for sum in sums().iter().filter(|sum| refused(sum)) {
        assert!(is_refused(sum["packets"].as_u64().unwrap()), "{sum:#}");
    }
}

#[test]
fn packets_of_test_runs_are_none() {
    let lab = Lab::new();
    let mut daemon = lab
        .b
        .start("postcards --drops --json --netns all", "drops are reported");
    let program = Foreign::tc("tested", TC_OK);
    lab.b.enter(|| program.test_run());
    assert_eq!(program.packets(), 1);
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    let all = daemon.json_lines();
    let totals = all.last().unwrap();
    let mut places = totals["places"].as_array().unwrap().iter();
    let is_it = |one: &Value| one["place"] == "bpf_prog_test_run_skb";
    assert!(!places.any(is_it), "{totals:#}");
}

#[test]
fn replies_to_pings_of_bare_sockets_are_no_drops() {
    let lab = Lab::new();
    let mut daemon = lab
        .a
        .start("postcards --drops --json", "drops are reported");
    assert_eq!(ping(&lab), PINGS.to_string());
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    let all = daemon.json_lines();
    let of_flow = all.iter().filter(|line| line["kind"] == "host-drop");
    assert_eq!(of_flow.count(), 0, "{all:#?}");
    let totals = all.last().unwrap();
    let reasons = totals["reasons"].as_array().unwrap().iter();
    let ignored: u64 = reasons
        .filter(|one| one["ignored"] == true && one["kernel_reason_name"] == "NO_SOCKET")
        .map(|one| one["packets"].as_u64().unwrap())
        .sum();
    assert!((1..=PINGS).contains(&ignored), "{totals:#}");
}

#[test]
fn packets_that_try_the_path_look_like_no_drops() {
    const TRIED: u64 = 9;
    let lab = Lab::new();
    let daemon = lab
        .b
        .start("postcards --drops --json", "drops are reported");
    // Nobody listens at these ports: they are dropped alike.
    let stray = lab.a.udp("10.9.1.1:64520");
    let plain = lab.a.udp("10.9.1.1:5000");
    let no_socket = |totals: &Value, ignored: bool| -> u64 {
        let all = totals["reasons"].as_array().into_iter().flatten();
        all.filter(|one| one["kernel_reason_name"] == "NO_SOCKET" && one["ignored"] == ignored)
            .map(|one| one["packets"].as_u64().unwrap())
            .sum()
    };
    for _ in 0..TRIED {
        // Each is refused by ICMP, which the next one would return.
        let _ = stray.send_to(b"stray", "10.9.2.1:64511");
        let _ = plain.send_to(b"plain", "10.9.2.1:6001");
    }
    await_that_or(
        || {
            let totals = drops(&lab);
            (no_socket(&totals, true), no_socket(&totals, false)) == (TRIED, TRIED)
        },
        || format!("{:#}", drops(&lab)),
    );
    let to = |port: u64| move |line: &Value| line["flow"]["dport"] == port;
    await_that_or(
        || daemon.json_lines().iter().any(to(6001)),
        || daemon.stdout(),
    );
    for line in daemon.json_lines() {
        assert!(!to(64511)(&line), "{line}");
    }
}

/// In vxlan-gpe and behind the extension port, where their ports are those behind INT.
#[test]
fn probes_of_a_lease_look_like_no_drops() {
    let lab = Lab::new();
    let mut daemon = lab
        .b
        .start("postcards --drops --json", "drops are reported");
    let _sinks = [
        lab.a.leasing_sink("--dev a0 --node-id 1"),
        lab.b.leasing_sink("--dev b0 --node-id 2"),
    ];
    lab.a.hostint("source attach --dev a0");
    lab.a.hostint("source add-dest 10.9.2.1 fd09:2::1");
    // Each destination's lease is there, and so its probes were.
    await_that_or(|| is_settled(&lab.a), || lab.a.hostint("status --all"));
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    let all = daemon.json_lines();
    let told = all.iter().filter(|line| line["kind"] == "host-drop");
    assert_eq!(told.count(), 0, "{all:#?}");
    let totals = all.last().unwrap();
    let places = totals["places"].as_array().unwrap().iter();
    let tagged: u64 = places
        .filter(|one| one["ignored"] == true && one["tagged_by"].is_u64())
        .map(|one| one["packets"].as_u64().unwrap())
        .sum();
    assert!(tagged > 0, "{totals:#}");
}
