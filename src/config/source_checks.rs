//! Checks of single options of the source.

use std::time::Duration;

use super::choice::Superpackets;
use super::duration::TimeSpan;
use super::mark::DscpMark;
use super::mistake::{Fault, fault};
use super::source::{SHORTEST_IDLE, SourceOptions};
use super::source_encapsulation::{FORM_UNKNOWN, SourceEncapsulation};
use super::source_hook::SourceHook;
use super::source_room::encapsulates;
use crate::model::Encapsulation;

/// The packet length that every IPv4 link must carry.
const SHORTEST_PACKET: u32 = 68;

/// Routers whose entries find room in ioam, unless the user says another number.
const IOAM_HOPS: u8 = 4;

impl SourceOptions {
    /// Refuses a handling of superpackets that sinks could not read, or that is impossible at the hook.
    pub(super) fn check_superpackets(
        &self,
        hook: SourceHook,
        encapsulation: SourceEncapsulation,
        faults: &mut Vec<Fault>,
    ) -> Superpackets {
        let tunnel = encapsulation == Encapsulation::VxlanGpe.into();
        if self.compat.is_some() && (tunnel || self.superpackets.is_some_and(encapsulates)) {
            faults.push(fault(
                if tunnel {
                    &["encap", "compat"]
                } else {
                    &["superpackets", "compat"]
                },
                "sinks of Host-INT do not know vxlan-gpe (try --superpackets stage, no-gso or skip)",
            ));
        }
        match (hook, self.superpackets) {
            (SourceHook::Tc, Some(way)) => way,
            (SourceHook::TcIngress, Some(way))
                if encapsulates(way) || way == Superpackets::Skip =>
            {
                way
            }
            (_, Some(Superpackets::Skip)) => Superpackets::Skip,
            (hook, Some(way)) => {
                faults.push(fault(
                    &["superpackets", "hook"],
                    format!(
                        "superpackets are not handled by {} at hook {} (try --superpackets skip)",
                        way.name(),
                        hook.name()
                    ),
                ));
                Superpackets::Skip
            }
            (SourceHook::Xdp, None) => Superpackets::Skip,
            (_, None) if self.compat.is_some() => Superpackets::Skip,
            (_, None) => Superpackets::Encap,
        }
    }

    /// Options, but for those whom they do not serve: hops do not know them, superpackets of UDP make no room for them. Those
    /// of guests do not either, but tunnels from the host of a guest or a pod may not pass the firewall in front of it.
    fn default_encapsulation(&self, hook: SourceHook) -> SourceEncapsulation {
        let tunnels = hook == SourceHook::Xdp
            || self.compat.is_some()
            || self.superpackets.is_some()
            || self.max_hops.is_some_and(|hops| hops > 0);
        match tunnels {
            true => SourceEncapsulation::Tunnel,
            false => Encapsulation::Options.into(),
        }
    }

    pub(super) fn check_encapsulation(
        &self,
        hook: SourceHook,
        faults: &mut Vec<Fault>,
    ) -> SourceEncapsulation {
        use SourceEncapsulation::Tunnel;
        let wanted = self
            .encap
            .unwrap_or_else(|| self.default_encapsulation(hook));
        let impossible = wanted.impossible_at(hook);
        faults.extend(impossible.map(|why| fault(&["encap", "hook"], why)));
        match wanted {
            // XDP can do nothing else.
            Tunnel if hook == SourceHook::Xdp => Encapsulation::ExtensionUdp.into(),
            // Sinks of Host-INT know no vxlan-gpe.
            Tunnel if self.compat.is_some() => Encapsulation::OverTcpUdp.into(),
            wanted => wanted,
        }
    }

    /// The mark of INT-MD, which there is if and only if packets go in it.
    pub(super) fn check_int_dscp(
        &self,
        encapsulation: SourceEncapsulation,
        faults: &mut Vec<Fault>,
    ) -> Option<DscpMark> {
        let mark = self.int_dscp.check(faults);
        let int_md = encapsulation == Encapsulation::IntMd.into();
        match (int_md, self.int_dscp.int_dscp.is_some()) {
            (true, false) => faults.push(fault(
                &["encap"],
                "nothing says how int-md packets are marked (try --int-dscp 0x17, as sinks and hops have it)",
            )),
            (false, true) => faults.push(fault(
                &["int-dscp"],
                "it marks int-md packets, and this source sends none (try --encap int-md)",
            )),
            _ => {}
        }
        if int_md && self.compat.is_some() {
            faults.push(fault(
                &["encap", "compat"],
                "sinks of Host-INT do not know int-md (leave compat out)",
            ));
        }
        mark
    }

    /// How long flows may be idle.
    pub(super) fn check_idle(&self, faults: &mut Vec<Fault>) -> TimeSpan {
        let timeout = self
            .idle_flow_timeout
            .unwrap_or(TimeSpan(Duration::from_secs(120)));
        if timeout.0 < SHORTEST_IDLE {
            faults.push(fault(
                &["idle-flow-timeout"],
                format!(
                    "an idle flow timeout of {timeout} would restart the numbering of slow flows \
                     (expected at least 1s)"
                ),
            ));
        }
        timeout
    }

    /// The hops that may push their entries. Sinks of Host-INT read none, nor the forms that are made for them.
    pub(super) fn check_hops(
        &self,
        encapsulation: SourceEncapsulation,
        faults: &mut Vec<Fault>,
    ) -> u8 {
        let ioam = encapsulation == Encapsulation::Ioam.into();
        let in_option = encapsulation == Encapsulation::Options.into();
        if (ioam || in_option) && self.compat.is_some() {
            faults.push(fault(
                &["encap", "compat"],
                format!("sinks of Host-INT do not know {encapsulation} (try without --compat)"),
            ));
        }
        let max_hops = self.max_hops.unwrap_or(if ioam { IOAM_HOPS } else { 0 });
        if max_hops > 0 && self.compat.is_some() {
            faults.push(fault(
                &["max-hops", "compat"],
                "sinks of Host-INT read no entries of transit hops (leave max-hops or compat out)",
            ));
        }
        max_hops
    }

    /// Refuses an MTU that leaves no room for what INT adds.
    pub(super) fn check_mtu(&self, room: u32, faults: &mut Vec<Fault>) {
        let least = SHORTEST_PACKET + room;
        if let Some(mtu) = self.mtu.filter(|mtu| *mtu < least) {
            faults.push(fault(
                &["mtu", "encap", "superpackets", "max-hops"],
                format!("an MTU of {mtu} leaves no room for packets with INT (expected at least {least})"),
            ));
        }
    }

    /// Static destinations are those of a file, and nothing else says in which form their packets go.
    pub(super) fn check_static(&self, encapsulation: SourceEncapsulation, faults: &mut Vec<Fault>) {
        if self.dest_file.is_none() {
            faults.push(fault(
                &["static"],
                "it needs dest-file, whose destinations it applies to \
                 (try --dest-file FILE)",
            ));
        }
        if encapsulation.is_left_to_leases() {
            faults.push(fault(&["static", "encap"], FORM_UNKNOWN));
        }
    }
}
