//! A pair of hosts for each case, set up once; rounds go from one to the next.

use hostint_testing::netns::{Daemon, Lab, await_that, with_form};
use hostint_testing::watched_pair::is_settled;

/// Where the sinks are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SinkAt {
    Nowhere,
    Xdp,
    Tc,
}

impl SinkAt {
    /// The role in the name of the sink's pinned link.
    pub fn role(self) -> &'static str {
        match self {
            Self::Xdp => "sink",
            _ => "sink-tc",
        }
    }

    fn flags(self) -> Option<&'static str> {
        match self {
            Self::Nowhere => None,
            Self::Xdp => Some("--hook xdp --xdp-mode native"),
            Self::Tc => Some("--hook tc"),
        }
    }
}

/// What a pair of hosts runs.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// On both hosts.
    pub sink: SinkAt,
    /// Flags of the source on a; none: no source.
    pub source: Option<&'static str>,
    /// Is b on a's watchlist?
    pub watched: bool,
    /// Both hosts have leases and IPv6, without which no packet goes in ioam.
    pub leased_ipv6: bool,
    /// With these, b's address over IPv4 is watched, too.
    pub leased_ipv4: bool,
    /// A second source, on b.
    pub both_ways: bool,
    /// The longest packet that a sends by itself over IPv4, so that all cases send the same; 0: the interface's. Over IPv6 packets
    /// with INT would have no room: leases prove no greater length than that of the route.
    pub mtu: u32,
    /// The same over IPv6, where nothing has INT.
    pub mtu6: u32,
    /// TCP segments are packets of their own.
    pub no_gso: bool,
    pub sink_flags: &'static str,
    pub source_flows: u32,
}

impl Setup {
    pub const NOTHING: Self = Self {
        sink: SinkAt::Nowhere,
        source: None,
        watched: false,
        leased_ipv6: false,
        leased_ipv4: false,
        both_ways: false,
        mtu: 0,
        mtu6: 0,
        no_gso: false,
        sink_flags: "",
        source_flows: 65_536,
    };
}

/// A running pair of hosts.
pub struct Pair {
    _daemons: Vec<Daemon>,
    pub lab: Lab,
}

impl Pair {
    pub fn new(setup: &Setup) -> Self {
        let lab = Lab::new();
        let mut daemons = Vec::new();
        // As on hosts with physical interfaces: what arrives in segments is merged again.
        for (host, dev) in [(&lab.a, "a0"), (&lab.b, "b0")] {
            host.sh(&format!("ethtool -K {dev} gro on"));
            if setup.no_gso {
                host.sh(&format!("ip link set {dev} gso_max_segs 1"));
            }
        }
        if setup.mtu > 0 {
            let mtu = setup.mtu;
            let route = |via: &str| format!("ip route replace default via {via} mtu {mtu}");
            lab.a.sh(&route("10.9.1.2"));
            lab.b.sh(&route("10.9.2.2"));
        }
        if setup.leased_ipv6 || setup.mtu6 > 0 {
            lab.add_ipv6();
        }
        if setup.mtu6 > 0 {
            let mtu = setup.mtu6;
            let route = |via: &str| format!("ip -6 route replace default via {via} mtu {mtu}");
            lab.a.sh(&route("fd09:1::2"));
            lab.b.sh(&route("fd09:2::2"));
        }
        if let Some(flags) = setup.sink.flags() {
            let more = setup.sink_flags;
            for (host, dev, node) in [(&lab.a, "a0", 1), (&lab.b, "b0", 2)] {
                let flags = format!("--dev {dev} --node-id {node} {flags} {more}");
                daemons.push(match setup.leased_ipv6 {
                    true => host.leasing_sink(&flags),
                    false => host.sink(&flags),
                });
            }
        }
        if let Some(flags) = setup.source {
            let flows = setup.source_flows;
            let flags = match setup.leased_ipv6 {
                true => flags.to_owned(),
                false => with_form(flags),
            };
            lab.a.hostint(&format!(
                "source attach --dev a0 --force --node-id 1 --max-flows {flows} {flags}"
            ));
            if setup.both_ways {
                lab.b
                    .hostint(&format!("source attach --dev b0 --node-id 2 {flags}"));
                lab.b.hostint("source add-dest --static 10.9.1.1");
            }
        }
        match (setup.watched, setup.leased_ipv6) {
            (true, true) => {
                lab.a.hostint("source add-dest fd09:2::1");
                if setup.leased_ipv4 {
                    lab.a.hostint("source add-dest 10.9.2.1");
                }
                await_that("what passes is known", || is_settled(&lab.a));
            }
            (true, false) => {
                lab.a.hostint("source add-dest --static 10.9.2.0/23");
            }
            (false, _) => {}
        }
        Self {
            _daemons: daemons,
            lab,
        }
    }
}
