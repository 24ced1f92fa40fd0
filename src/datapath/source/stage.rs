//! The staging pair: a veth whose front end makes the kernel segment superpackets. Each segment arrives at its back
//! end, is tagged there, and goes on to the interface that the superpacket was meant for.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::net::if_::if_nameindex;

use crate::datapath::kernel::clsact::ClsactFilter;
use crate::datapath::kernel::links::{Hook, Link, remove_link};
use crate::datapath::kernel::pins::Pins;
use crate::os::{ethtool, netdev, rtnetlink};

/// The role's name in pins.
pub const ROLE: &str = "source-stage";

/// The handle of the pair's clsact filter, where the kernel has no tcx.
const CLSACT_HANDLE: u32 = 1;

/// The pair's MTU: the largest, so that only the interface behind the pair limits the length of segments.
const MTU: u32 = 65_535;

/// The staging pair of an interface.
pub struct StagePair {
    /// The end that superpackets are sent to.
    pub front: u32,
    /// The end at which segments arrive.
    pub back: u32,
    /// The pair was just made, and is removed again unless it is put to use.
    unused: Cell<bool>,
}

/// Returns the names of both ends. They hold the interface's index, because its name may change.
fn names(ifindex: u32) -> [String; 2] {
    ["a", "b"].map(|end| format!("hi{ifindex}{end}"))
}

/// True if an end of some pair has this name.
pub fn is_name(name: &str) -> bool {
    let of = name.strip_prefix("hi");
    let digits = of.and_then(|rest| rest.strip_suffix(['a', 'b']));
    digits.is_some_and(|digits| digits.parse::<u32>().is_ok())
}

impl StagePair {
    /// Finds the pair of this interface, or makes one.
    pub fn of(ifindex: u32) -> io::Result<Self> {
        let [front, back] = &names(ifindex);
        Self::named(front, back).map_err(|err| {
            let text = format!("cannot make the staging pair {front}, {back}: {err}");
            io::Error::new(err.kind(), text)
        })
    }

    fn named(front: &str, back: &str) -> io::Result<Self> {
        let unused = netdev::index_of(front).is_err();
        if unused {
            rtnetlink::add_veth(front, back, MTU)?;
        }
        let pair = Self {
            front: netdev::index_of(front)?,
            back: netdev::index_of(back)?,
            unused: Cell::new(unused),
        };
        if !ethtool::is_veth(front)? || !ethtool::is_veth(back)? {
            return Err(io::Error::other("other interfaces have these names"));
        }
        ethtool::turn_off(front, segments)?;
        ethtool::turn_off(back, |feature| feature == ethtool::GRO)?;
        for (name, index) in [(front, pair.front), (back, pair.back)] {
            netdev::disable_ipv6(name)?;
            rtnetlink::set_up(index)?;
        }
        Ok(pair)
    }

    /// Attaches the program that tags segments at the back end, or replaces the present one.
    pub fn attach(
        &self,
        pins: &Pins,
        dev: &str,
        program: &OwnedFd,
        no_tcx: bool,
    ) -> io::Result<()> {
        let path = pins.link(ROLE, dev);
        let program = program.as_fd();
        if !no_tcx && Link::attach_tcx(&path, program, self.back, Hook::TcxIngress)? {
            return Ok(());
        }
        let filter = ClsactFilter {
            ifindex: self.back,
            ingress: true,
            handle: CLSACT_HANDLE,
        };
        filter.attach(program)
    }

    /// Keeps the pair when it is dropped: packets may pass through it from now on.
    pub fn keep(&self) {
        self.unused.set(false);
    }
}

impl Drop for StagePair {
    fn drop(&mut self) {
        if self.unused.get() {
            let _ = rtnetlink::remove(self.front);
        }
    }
}

/// True for features of a device that would make it segment superpackets instead of the kernel.
fn segments(feature: &str) -> bool {
    feature.ends_with("-segmentation") || feature == "tx-gso-list"
}

/// Removes the pair of an interface; the interface may be gone already.
pub fn remove(ifindex: u32, front: u32) -> io::Result<()> {
    let [name, _] = names(ifindex);
    match netdev::name_of(front) {
        Some(found) if found == name => rtnetlink::remove(front),
        _ => Ok(()),
    }
}

/// Removes pairs that no attachment uses: an attach that was killed left them behind.
pub fn remove_orphans(used: &[u32]) -> io::Result<()> {
    for found in if_nameindex()?.iter() {
        let name = found.name().to_string_lossy();
        let of = name
            .strip_prefix("hi")
            .and_then(|rest| rest.strip_suffix('a'))
            .and_then(|digits| digits.parse::<u32>().ok());
        let Some([front, back]) = of.map(names) else {
            continue;
        };
        // A pair is hostint's only if both ends have its names, its kind and its MTU.
        let ours = |end: &str| {
            ethtool::is_veth(end).unwrap_or(false) && netdev::mtu(end).is_ok_and(|mtu| mtu == MTU)
        };
        if *name == front && !used.contains(&found.index()) && ours(&front) && ours(&back) {
            rtnetlink::remove(found.index())?;
        }
    }
    Ok(())
}

/// Removes the pins of links whose pair is gone.
pub fn remove_dead_links(pins: &Pins) -> io::Result<()> {
    for (role, dev) in pins.links()? {
        let path = pins.link(&role, &dev);
        if role == ROLE
            && let Some(link) = Link::open(&path)?
            && link.state()?.ifindex == 0
        {
            remove_link(&path)?;
        }
    }
    Ok(())
}
