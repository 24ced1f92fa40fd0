//! The network of the demo: two hosts and a router between them, as network namespaces without a name.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;

use anyhow::{Context, Result};

use crate::os::private_netns::PrivateNetns;
use crate::os::{cables, netdev, rtnetlink};

pub const LEFT: Ipv4Addr = Ipv4Addr::new(10, 77, 1, 1);
pub const RIGHT: Ipv4Addr = Ipv4Addr::new(10, 77, 2, 1);
const ROUTER_LEFT: Ipv4Addr = Ipv4Addr::new(10, 77, 1, 254);
const ROUTER_RIGHT: Ipv4Addr = Ipv4Addr::new(10, 77, 2, 254);
const PREFIX_LEN: u8 = 24;

/// Makes a network namespace a router.
const FORWARD: &str = "/proc/sys/net/ipv4/ip_forward";

/// The interface of each host.
pub const DEV: &str = "eth0";
/// The router's interface to the right host.
pub const ROUTER_DEV: &str = "right";

/// Two hosts and a router.
pub struct DemoNetwork {
    pub left: PrivateNetns,
    pub router: PrivateNetns,
    pub right: PrivateNetns,
}

impl DemoNetwork {
    pub fn make() -> Result<Self> {
        let made = (|| {
            let network = Self {
                left: PrivateNetns::new()?,
                router: PrivateNetns::new()?,
                right: PrivateNetns::new()?,
            };
            network.connect()?;
            Ok::<_, io::Error>(network)
        })();
        made.context("cannot make the demo's network")
    }

    fn connect(&self) -> io::Result<()> {
        self.router.enter(|| {
            set_up_loopback()?;
            std::fs::write(FORWARD, "1")
                .map_err(|err| io::Error::new(err.kind(), format!("{FORWARD}: {err}")))
        })?;
        self.add_host(&self.left, (LEFT, ROUTER_LEFT), "left")?;
        self.add_host(&self.right, (RIGHT, ROUTER_RIGHT), ROUTER_DEV)?;
        // One packet for each TCP segment, so that packets are what the router loses.
        self.left
            .enter(|| rtnetlink::set_gso_max_segs(netdev::index_of(DEV)?, 1))
    }

    /// Connects a host to the router, by their addresses and the router's interface.
    fn add_host(
        &self,
        host: &PrivateNetns,
        (address, router_address): (Ipv4Addr, Ipv4Addr),
        router_dev: &str,
    ) -> io::Result<()> {
        host.enter(|| {
            set_up_loopback()?;
            cables::connect(DEV, router_dev, self.router.as_fd())?;
            set_up(DEV, address)
        })?;
        self.router.enter(|| set_up(router_dev, router_address))?;
        host.enter(|| cables::add_default_route(router_address))
    }
}

fn set_up_loopback() -> io::Result<()> {
    rtnetlink::set_up(netdev::index_of("lo")?)
}

fn set_up(dev: &str, address: Ipv4Addr) -> io::Result<()> {
    let index = netdev::index_of(dev)?;
    cables::add_address(index, address, PREFIX_LEN)?;
    rtnetlink::set_up(index)
}
