//! What leases cost: the answer in the sink's program, a thousand peers at the source, and what a keyed tag in every
//! header would cost.

use std::net::IpAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

use hostint::model::{Capabilities, FullQuestion, LeaseKey, NodeId};
use hostint::wire::lease::MAGIC;
use hostint::wire::lease::message::encode_full_question;
use hostint_testing::netns::{Host, Lab, sh};
use libbpf_rs::libbpf_sys;

use crate::programs;

const PEERS: usize = 1_000;
const LOTS: usize = 20;
const WATCHED: Duration = Duration::from_secs(15);
const SETTLED: Duration = Duration::from_secs(20);
/// Probes and questions together take at most 1 Mbit/s, so that proofs of many peers take minutes.
const PROVED: Duration = Duration::from_secs(400);

/// SipHash rounds for a question and its answer: 11 and 24 words, a word of length each, and the end of each.
const ROUNDS_ANSWER: f64 = 2.0 * (12.0 + 25.0) + 8.0;
/// And for an INT block of 36 bytes with addresses, ports and protocol: 76 bytes, so 10 words with the length.
const ROUNDS_HEADER: f64 = 2.0 * 10.0 + 4.0;

fn echo_request(message: &[u8], to: [u8; 4]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let len = 20 + 8 + message.len() as u16;
    frame.extend([0x45, 0]);
    frame.extend(len.to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 1, 0, 0, 10, 9, 1, 1]);
    frame.extend(to);
    frame.extend([8, 0, 0, 0, 0, 1, 0, 1]);
    frame.extend(message);
    frame
}

/// ns of one run of a program on this frame.
fn run(program: &OwnedFd, frame: &[u8]) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..15 {
        let mut out = vec![0; frame.len() + 256];
        let mut options = libbpf_sys::bpf_test_run_opts {
            sz: size_of::<libbpf_sys::bpf_test_run_opts>() as _,
            data_in: frame.as_ptr().cast(),
            data_size_in: frame.len() as u32,
            data_out: out.as_mut_ptr().cast(),
            data_size_out: out.len() as u32,
            repeat: 20_000,
            ..Default::default()
        };
        // SAFETY: descriptor, options and the buffers that they point to are valid during the call.
        let result =
            unsafe { libbpf_sys::bpf_prog_test_run_opts(program.as_raw_fd(), &mut options) };
        assert_eq!(result, 0, "the kernel runs the program");
        best = best.min(f64::from(options.duration));
    }
    best
}

fn answer() {
    let lab = Lab::new();
    let _sink = lab.b.sink("--dev b0 --node-id 2 --hook xdp");
    let id = programs::pinned(&lab.b, "sink", "b0");
    // SAFETY: no pointers; a new descriptor that nobody else owns.
    let program = unsafe { OwnedFd::from_raw_fd(libbpf_sys::bpf_prog_get_fd_by_id(id)) };
    let question = FullQuestion {
        nonce: 1,
        flow_source: IpAddr::from([10, 9, 1, 1]),
        origin: IpAddr::from([10, 9, 1, 1]),
        asked_ns: 1,
        source_node: NodeId(1),
        capabilities: Capabilities::from_bits(7),
        round: 0,
    };
    let to = [10, 9, 2, 1];
    let message = encode_full_question(&question, IpAddr::from(to), LeaseKey::default());
    let mut other = message;
    other[..4].copy_from_slice(&(!MAGIC).to_be_bytes());
    let answered = run(&program, &echo_request(&message, to));
    let passed = run(&program, &echo_request(&other, to));
    let hash = (answered - passed) / ROUNDS_ANSWER;
    println!("lease question answered: {answered:.0} ns, another ping passed: {passed:.0} ns");
    println!(
        "of that at most {hash:.1} ns a SipHash round: a keyed tag over header and addresses of each packet would \
         take at most {:.0} ns at each end",
        hash * ROUNDS_HEADER
    );
}

/// Waits until the paths to all peers are proved, and says how long that takes.
fn await_proofs(a: &Host) {
    let begun = Instant::now();
    let proved = || {
        let status = a.hostint(&format!("status --json --peers {PEERS}"));
        status.matches("\"proved_ago_ns\":").count()
            - status.matches("\"proved_ago_ns\":null").count()
    };
    while proved() < PEERS {
        assert!(
            begun.elapsed() < PROVED,
            "{} of {PEERS} are proved",
            proved()
        );
        std::thread::sleep(Duration::from_secs(1));
    }
    println!(
        "{PEERS} peers: their paths are proved within {} s",
        begun.elapsed().as_secs()
    );
}

/// Bytes of questions that the router has forwarded so far, with their IP headers.
fn icmp_bytes(m: &Host) -> u64 {
    m.counted_by_nft("counter ip lab questions").1
}

fn peers() {
    let lab = Lab::new();
    let (a, b) = (&lab.a, &lab.b);
    let _sinks = [
        a.leasing_sink("--dev a0 --node-id 1"),
        b.leasing_sink("--dev b0 --node-id 2"),
    ];
    let hosts: Vec<String> = (0..PEERS)
        .map(|n| format!("10.9.{}.{}", 100 + n / 250, 1 + n % 250))
        .collect();
    let lines: Vec<String> = hosts
        .iter()
        .map(|host| format!("addr add {host}/32 dev lo"))
        .collect();
    let file = std::env::temp_dir().join(format!("{}-peers", a.ns));
    std::fs::write(&file, lines.join("\n")).unwrap();
    sh(&format!("ip -n {} -batch {}", b.ns, file.display()));
    sh(&format!(
        "ip -n {} route add 10.9.96.0/19 via 10.9.2.1",
        lab.m.ns
    ));
    // What the other hosts do is done by another CPU than the daemon's.
    lab.m.sh("echo 2 >/sys/class/net/m0/queues/rx-0/rps_cpus");
    // They are counted there, too.
    lab.m
        .sh("nft add table ip lab; nft add counter ip lab questions
         nft 'add chain ip lab through { type filter hook forward priority 0; }'
         nft 'add rule ip lab through iifname m0 ip protocol icmp counter name questions'");
    let pid = a.status()["sink"]["daemon_pid"].to_string();
    sh(&format!("taskset -a -p 1 {pid}"));
    std::fs::write(&file, hosts.join("\n")).unwrap();
    a.hostint("source attach --dev a0");
    a.hostint(&format!("source add-dest --dest-file {}", file.display()));
    std::fs::remove_file(&file).unwrap();
    let read = || {
        let status = a.status();
        let counters = status["sink"]["daemon"].as_array().unwrap().clone();
        ["lease_cpu_ns", "leases_asked", "leases_answered"].map(|name| {
            let counter = counters.iter().find(|counter| counter["name"] == name);
            counter.unwrap()["value"].as_u64().unwrap()
        })
    };
    await_proofs(a);
    let socket = a.udp("10.9.1.1:5000");
    for (name, active) in [
        ("none with packets", 0),
        ("a quarter with packets", PEERS / 4),
        ("all with packets", PEERS),
    ] {
        // In lots, so that they push no question out of a queue: one packet for each host in a second.
        let send = || {
            for lot in 0..LOTS {
                for host in hosts[..active].iter().skip(lot).step_by(LOTS) {
                    let _ = socket.send_to(b"", format!("{host}:9"));
                }
                std::thread::sleep(Duration::from_secs(1) / LOTS as u32);
            }
        };
        // Until idle ones are known to be idle, and those that lost a question are asked as seldom as others.
        let settled = Instant::now() + SETTLED;
        while Instant::now() < settled {
            send();
        }
        let before = read();
        let sent = icmp_bytes(&lab.m);
        let begun = Instant::now();
        while begun.elapsed() < WATCHED {
            send();
        }
        let took = begun.elapsed();
        let after = read();
        let sent = icmp_bytes(&lab.m) - sent;
        let [cpu_ns, asked, answered] = [0, 1, 2].map(|at| (after[at] - before[at]) as f64);
        println!(
            "{PEERS} peers, {name}: {:.0} questions a second, {:.2} % answered, {:.2} % of a core, {:.1} us a \
             question, {:.2} Mbit/s each way",
            asked / took.as_secs_f64(),
            answered / asked * 100.0,
            cpu_ns / took.as_nanos() as f64 * 100.0,
            cpu_ns / asked / 1000.0,
            sent as f64 * 8.0 / took.as_secs_f64() / 1e6
        );
    }
}

pub fn run_all() {
    println!("\nleases");
    answer();
    peers();
}
