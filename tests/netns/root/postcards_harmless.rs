//! Packets of any shape pass a router that tells drops, hops and queues: each arrives as it was sent.

use hostint_testing::netns::Lab;
use serde_json::Value;

/// Sends from one namespace to the other, and prints how many packets arrived as they were sent, and how many were sent.
const EXCHANGE: &str = r#"
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def enter(name):
    with open("/run/netns/" + name) as ns:
        if libc.setns(ns.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), name)
FOREIGN = 253
here, there = sys.argv[1:]
to = "10.9.2.1"
enter(there)
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind((to, 7000))
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, FOREIGN)
for one in (datagrams, raw):
    one.settimeout(5)
enter(here)
plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
options = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
options.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, b"\1" * 12)
foreign = socket.socket(socket.AF_INET, socket.SOCK_RAW, FOREIGN)
sent = whole = 0
def exchange(sender, address, receiver, size, header):
    global sent, whole
    data = os.urandom(size)
    sender.sendto(data, address)
    sent += 1
    try:
        whole += receiver.recv(70000)[header:] == data
    except TimeoutError:
        print(f"{size} bytes did not arrive", file=sys.stderr)
# Around one and two packets of the path: the last fragment has one byte, two, and so on, and some have no room for ports.
sizes = [*range(12), *range(1380, 1430), *range(2780, 2850), 8000, 60000]
for size in sizes:
    exchange(plain, (to, 7000), datagrams, size, 0)
    exchange(options, (to, 7000), datagrams, size, 0)
    exchange(foreign, (to, 0), raw, size, 20)
print(whole, sent)
"#;

#[test]
fn fragments_options_and_foreign_protocols_arrive_as_they_were_sent() {
    let lab = Lab::new();
    lab.m
        .sh("tc qdisc add dev m1 root tbf rate 1gbit burst 100k limit 1m");
    let mut daemon = lab.m.start(
        "postcards --drops --hops --dev m0,m1 --queue m1=trigger:1us --json",
        "drops, hops and queues are reported",
    );
    let script = format!(
        "python3 - {} {} <<'EOS'\n{EXCHANGE}\nEOS",
        lab.a.ns, lab.b.ns
    );
    let found = lab.a.sh(&script);
    let counts: Vec<u64> = found
        .split_whitespace()
        .map(|it| it.parse().unwrap())
        .collect();
    let [whole, sent] = counts[..] else {
        panic!("{found}");
    };
    assert_eq!(whole, sent);
    assert!(sent > 300);
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    let text = daemon.stdout();
    let lines = text
        .lines()
        .filter_map(|it| serde_json::from_str::<Value>(it).ok());
    let hops = { lines }.find(|line| line["kind"] == "hop-totals").unwrap();
    let stamped = hops["stamped"].as_u64().unwrap();
    let unread = hops["unread"].as_u64().unwrap();
    assert!(stamped > 0 && unread > 0, "{hops:#}");
}
