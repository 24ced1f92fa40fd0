//! A path that eats the tunnel costs a TCP connection one timeout, and real loss does not end its measurement.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use hostint::datapath::abi::{
    address_pair, encapsulation, flow_form, flow_key, lease_way, source_flow, source_lease,
};
use hostint::datapath::kernel::map_names::{SOURCE_FLOWS, SOURCE_LEASES};
use hostint::datapath::kernel::maps::Map;
use hostint::datapath::kernel::pins::Pins;
use hostint::model::{FlowKey, Vlans};
use hostint_testing::before_others::before_others;
use hostint_testing::conversation::{Server, many};
use hostint_testing::netns::{Daemon, Lab};

const TO: ([u8; 4], u16) = ([10, 9, 2, 1], 7000);

/// A source on a without a daemon, a sink on b, and a lease that says that the tunnel passes.
struct Proved {
    lab: Lab,
    _sink: Daemon,
    pins: Pins,
}

impl Proved {
    fn new() -> Self {
        let lab = Lab::new();
        lab.make_room();
        let sink = lab.b.sink("--dev b0 --node-id 2");
        lab.a
            .hostint("source attach --dev a0 --node-id 1 --force --encap tunnel");
        lab.a.hostint("source add-dest 10.9.2.1");
        let pins = lab.a.enter(|| Pins::of_this_host(None, false));
        let pins = pins
            .expect("they can be read")
            .expect("a source is attached");
        let this = Self {
            lab,
            _sink: sink,
            pins,
        };
        let lease = source_lease {
            until_ns: u64::MAX,
            proved_ns: 1,
            ways: lease_way::WAY_TCP_GPE.0,
            ..source_lease::default()
        };
        this.leases()
            .set(&this.pair(), &lease)
            .expect("there is room");
        this
    }

    fn leases(&self) -> Map<address_pair, source_lease> {
        let map = Map::open(&self.pins.map(SOURCE_LEASES)).expect("as built");
        map.expect("a source is attached")
    }

    fn pair(&self) -> address_pair {
        let key = flow_key::from(&FlowKey {
            src: [10, 9, 1, 1].into(),
            dst: TO.0.into(),
            sport: 0,
            dport: 0,
            protocol: 6,
            vlans: Vlans::default(),
        });
        address_pair {
            saddr: key.saddr,
            daddr: key.daddr,
        }
    }

    fn fallen(&self) -> u64 {
        let lease = self.leases().get(&self.pair()).expect("can be read");
        lease.expect("was set").fallen
    }

    fn forms(&self) -> Vec<u32> {
        let mut forms = Vec::new();
        let read = flows(&self.pins).for_each(|_, flow| forms.push(flow.form.into()));
        read.expect("can be read");
        forms
    }
}

/// Connects to a service on b that returns what it gets.
fn connect(lab: &Lab) -> TcpStream {
    let to = SocketAddr::from(TO);
    let listener = lab.b.enter(|| TcpListener::bind(to)).expect("is free");
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody connects");
        stream.set_nodelay(true).expect("is TCP");
        let mut bytes = [0; 65_536];
        while let Ok(len @ 1..) = stream.read(&mut bytes) {
            if stream.write_all(&bytes[..len]).is_err() {
                break;
            }
        }
    });
    let stream = lab
        .a
        .enter(|| TcpStream::connect(to))
        .expect("somebody listens");
    stream.set_nodelay(true).expect("is TCP");
    let limit = Some(Duration::from_secs(60));
    stream.set_read_timeout(limit).expect("is no zero");
    stream
}

fn flows(pins: &Pins) -> Map<flow_key, source_flow> {
    let map = Map::open(&pins.map(SOURCE_FLOWS)).expect("as built");
    map.expect("a source is attached")
}

/// Sends bytes and waits until they are back.
fn echo(stream: &mut TcpStream, len: usize) -> Duration {
    let begun = Instant::now();
    let data: Vec<u8> = (0..len).map(|at| (at * 7) as u8).collect();
    let mut writer = stream.try_clone().expect("a descriptor");
    let sent = data.clone();
    let writing = thread::spawn(move || writer.write_all(&sent));
    let mut back = vec![0; len];
    stream
        .read_exact(&mut back)
        .expect("the connection goes on");
    writing
        .join()
        .expect("no panic")
        .expect("the connection goes on");
    assert!(data == back, "{len} bytes came back changed");
    begun.elapsed()
}

const TUNNEL: &str = "udp dport 4790";
/// As on one of two links: the port in the tunnel, in which a bit of the client's port is, says which packets go there.
const TUNNEL_OF_EVERY_OTHER_FLOW: &str = "udp dport 4790 udp sport & 2 == 2";

#[test]
fn one_of_two_links_that_eats_the_tunnel_delays_each_connection_by_one_timeout() {
    let proved = Proved::new();
    let lease = proved.leases().get(&proved.pair()).expect("can be read");
    let others_arrive = source_lease {
        vouched_ns: u64::MAX,
        ..lease.expect("was set")
    };
    let set = proved.leases().set(&proved.pair(), &others_arrive);
    set.expect("there is room");
    proved.lab.drop_packets(TUNNEL_OF_EVERY_OTHER_FLOW);
    let server = Server::start(&proved.lab.b, SocketAddr::from(TO));
    let account = many(&proved.lab.a, &server, 16, 4, |number| 1 + number * 997);
    assert_eq!(account.whole, 64, "{account}");
    assert_eq!(account.repeated_timeouts, 0, "{account}");
    let mut eaten = 0;
    let read = flows(&proved.pins).for_each(|_, flow| {
        eaten += u64::from(u32::from(flow.form) == flow_form::FLOW_UNTAGGED.0);
    });
    read.expect("can be read");
    assert!((10..54).contains(&eaten), "the hash chose {eaten} of 64");
    assert_eq!(proved.lab.dropped(), eaten, "of each only the first SYN");
    assert_eq!(proved.fallen(), 0, "others of the pair arrive");
}

#[test]
fn a_path_that_eats_the_tunnel_from_the_first_packet_delays_the_connection_by_one_timeout() {
    let proved = Proved::new();
    proved.lab.drop_packets(TUNNEL);
    let begun = Instant::now();
    let mut stream = connect(&proved.lab);
    echo(&mut stream, 100_000);
    let took = begun.elapsed();
    // The first timeout of a SYN is one second, the second one would end after three.
    assert!(took < Duration::from_millis(2_500), "it took {took:?}");
    assert_eq!(proved.lab.dropped(), 1, "only the first SYN was eaten");
    assert_eq!(proved.fallen(), 1);
    assert_eq!(proved.forms(), [flow_form::FLOW_UNTAGGED.0]);
}

#[test]
fn a_path_that_begins_to_eat_the_tunnel_delays_the_connection_by_one_timeout() {
    before_others(|| {
        for (name, len) in [
            ("a byte", 1),
            ("a request", 300),
            ("a window", 10_000),
            ("a stream", 3_000_000),
        ] {
            let proved = Proved::new();
            let mut stream = connect(&proved.lab);
            echo(&mut stream, 100_000);
            assert_eq!(
                proved.lab.a.count("source", "guarded"),
                0,
                "{name}: all is well"
            );
            assert!(
                proved.lab.a.count("source", "tagged") > 10,
                "{name}: in the tunnel"
            );
            proved.lab.drop_packets(TUNNEL);
            let took = echo(&mut stream, len);
            // The first timeout is some 200 ms, the second one would end after 600 ms.
            let limit = Duration::from_millis(if len > 100_000 { 2_000 } else { 550 });
            assert!(took < limit, "{name} took {took:?}");
            assert!(
                proved.lab.a.count("source", "guarded") > 0,
                "{name}: untagged"
            );
        }
    });
}

#[test]
fn real_loss_is_measured_and_ends_no_flow() {
    let proved = Proved::new();
    let mut stream = connect(&proved.lab);
    echo(&mut stream, 10_000);
    // No packet is lost twice in a row.
    let loss = format!("{TUNNEL} numgen inc mod 10 == 0");
    proved.lab.drop_packets(&loss);
    for _ in 0..100 {
        echo(&mut stream, 700);
    }
    echo(&mut stream, 200_000);
    let dropped = proved.lab.dropped();
    assert!(dropped > 3, "{dropped} were lost");
    assert_eq!(proved.fallen(), 0, "no flow was given up");
    assert_eq!(proved.forms(), [encapsulation::ENCAP_VXLAN_GPE.0]);
}
