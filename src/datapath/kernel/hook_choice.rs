//! The hook that suits an interface best, and the reason.
//!
//! XDP on a software interface sees TCP's superpackets in segments, or copied; tc sees them whole. On a network card
//! native XDP is the cheapest place, and generic XDP, which runs just before tc, costs more than tc. A superpacket that
//! is stripped at tc stays marked as tunnelled, which a card that segments tunnels by itself would act upon; so packets
//! that may be forwarded to such a card are stripped at XDP.

use std::io;

use libbpf_rs::libbpf_sys;

use super::hooks::has_tcx;
use super::links::{Link, xdp_features, xdp_occupant};
use super::pins::Pins;
use super::probe::has_program_type;
use crate::config::{HookChoice, SinkConfig, SinkHook};
use crate::datapath::sink::sink_links::{attached_devs, role};
use crate::os::rtnetlink::{self, InterfaceState};
use crate::os::{kernel, netdev};

/// `NETDEV_XDP_ACT_BASIC`: the driver runs XDP programs itself.
const XDP_BASIC: u64 = 1;

/// All that decides about the hook on an interface.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HookFacts {
    /// The hook at which this host's sink is attached already.
    pub attached: Option<SinkHook>,
    /// The kernel has tcx; `None` without the privilege to ask.
    pub has_tcx: Option<bool>,
    /// There is a device behind the interface.
    pub is_card: bool,
    /// The kind of a software interface.
    pub kind: Option<String>,
    pub native_xdp: bool,
    /// Packets may leave the host again by another interface.
    pub forwards: bool,
    /// The kernel takes no program of type XDP.
    pub xdp_refused: bool,
    /// The program of another tool that holds the XDP hook.
    pub occupant: Option<String>,
}

/// The reason for a hook.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WhyHook {
    AsBefore,
    NoTcx,
    NoXdp,
    Software,
    Occupied,
    NoNativeXdp,
    NetworkCard,
    Forwards,
}

/// Returns the name of the hook that `--hook auto` takes on an interface, and the reason.
pub fn preview(pins: Option<&Pins>, dev: &str) -> io::Result<(&'static str, String)> {
    let facts = HookFacts::of(pins, dev)?;
    let (hook, why) = facts.choose();
    let name = match hook {
        SinkHook::Tc => "tc",
        SinkHook::Xdp => "xdp",
    };
    Ok((name, facts.sentence(dev, why)))
}

/// Returns the hooks at which a sink with these settings will be attached: to interfaces that are not there, it will be
/// to none.
pub fn expected(pins: &Pins, config: &SinkConfig) -> io::Result<Vec<SinkHook>> {
    let chosen = |dev: &String| match config.hook {
        HookChoice::Xdp => Some(SinkHook::Xdp),
        HookChoice::Tc => Some(SinkHook::Tc),
        HookChoice::Auto => Some(HookFacts::of(Some(pins), dev).ok()?.choose().0),
    };
    let kept = attached_devs(pins)?;
    let kept = kept.iter().filter(|(dev, _)| !config.devs.contains(dev));
    let all: Vec<SinkHook> = config
        .devs
        .iter()
        .filter_map(chosen)
        .chain(kept.map(|(_, hook)| *hook))
        .collect();
    let both = [SinkHook::Xdp, SinkHook::Tc];
    Ok(both.into_iter().filter(|hook| all.contains(hook)).collect())
}

impl HookFacts {
    pub fn of(pins: Option<&Pins>, dev: &str) -> io::Result<Self> {
        let ifindex = netdev::index_of(dev)?;
        let state = rtnetlink::interface_state(ifindex)?;
        let mut attached = None;
        for hook in [SinkHook::Tc, SinkHook::Xdp] {
            let link = pins.map_or(Ok(None), |pins| Link::open(&pins.link(role(hook), dev)))?;
            if link.is_some_and(|link| link.state().is_ok_and(|at| at.ifindex == ifindex)) {
                attached = Some(hook);
            }
        }
        Ok(Self {
            attached,
            has_tcx: has_tcx(ifindex),
            is_card: state.device.is_some(),
            kind: state.kind.clone(),
            xdp_refused: !has_program_type(libbpf_sys::BPF_PROG_TYPE_XDP),
            native_xdp: xdp_features(ifindex) & XDP_BASIC != 0,
            forwards: forwards(dev, ifindex, &state)?,
            occupant: xdp_occupant(ifindex).map(|err| err.to_string()),
        })
    }

    /// An attached sink stays at its hook: taking an XDP program off may lose packets that the driver holds.
    pub fn choose(&self) -> (SinkHook, WhyHook) {
        if let Some(hook) = self.attached {
            return (hook, WhyHook::AsBefore);
        }
        if self.has_tcx != Some(true) {
            return (SinkHook::Xdp, WhyHook::NoTcx);
        }
        if self.xdp_refused {
            return (SinkHook::Tc, WhyHook::NoXdp);
        }
        let native = self.is_card && self.native_xdp;
        match self {
            Self { occupant: None, .. } if native => (SinkHook::Xdp, WhyHook::NetworkCard),
            Self { forwards: true, .. } => (SinkHook::Xdp, WhyHook::Forwards),
            Self { is_card: false, .. } => (SinkHook::Tc, WhyHook::Software),
            Self {
                occupant: Some(_), ..
            } => (SinkHook::Tc, WhyHook::Occupied),
            _ => (SinkHook::Tc, WhyHook::NoNativeXdp),
        }
    }

    /// Says the reason for a hook of this interface.
    pub fn sentence(&self, dev: &str, why: WhyHook) -> String {
        match why {
            WhyHook::AsBefore => {
                format!(
                    "the sink was attached there already (hostint sink detach --dev {dev} frees it)"
                )
            }
            WhyHook::NoTcx => "the kernel has no tcx, which came with 6.6".to_owned(),
            WhyHook::NoXdp => "the kernel refuses programs of type XDP".to_owned(),
            WhyHook::Software => format!("{dev} is {}", self.noun()),
            WhyHook::Occupied => self.occupant.clone().unwrap_or_default(),
            WhyHook::NoNativeXdp => "the driver has no native XDP".to_owned(),
            WhyHook::Forwards => {
                "the host forwards, and tc leaves superpackets marked as tunnelled".to_owned()
            }
            WhyHook::NetworkCard => format!("{dev} is a network card with native XDP"),
        }
    }

    /// Tells how the hook of an attached sink suits the interface.
    pub fn describe(&self, hook: SinkHook) -> String {
        let hint = match (self.is_card, hook, self.native_xdp, self.has_tcx) {
            (false, SinkHook::Tc, ..) => ", where superpackets arrive whole",
            (false, SinkHook::Xdp, _, Some(true)) => ", where tc costs bulk TCP less",
            (true, _, false, _) => " without native XDP",
            _ => "",
        };
        match self.is_card {
            true => format!("a network card{hint}"),
            false => self.noun() + hint,
        }
    }

    fn noun(&self) -> String {
        self.kind.as_ref().map_or_else(
            || "a software interface".to_owned(),
            |kind| format!("a software interface ({kind})"),
        )
    }
}

/// Says whether packets that come in by an interface may leave by another one, routed or bridged. A container with a
/// single interface does not forward, though it may inherit the setting from its host.
fn forwards(dev: &str, ifindex: u32, state: &InterfaceState) -> io::Result<bool> {
    if state.master.is_some() {
        return Ok(true);
    }
    if !kernel::forwards("ipv4", dev) && !kernel::forwards("ipv6", dev) {
        return Ok(false);
    }
    let others = rtnetlink::interfaces()?;
    Ok(others
        .iter()
        .any(|(index, other)| *index != ifindex && other.up && !other.loopback))
}
