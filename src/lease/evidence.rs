//! All evidence about a pair's path, and what it opens.
//!
//! Nothing is tagged without a lease. Within a lease, evidence opens ways (a form, for TCP or for UDP), and closes them:
//!
//! | evidence | opens | closes | for how long | what beats it |
//! |---|---|---|---|---|
//! | the sink's answer (`replies`) | the lease; TCP in options, which no path takes amiss | all, if it is silent, astray or not ours | 950 ms from its question | a wrong tag, a node id that another host has (`verdict`) |
//! | what the sink reads (`ways`) | that a form is probed | each form that it does not read | until its next full answer | nothing |
//! | probes of a form (`round`) | the form for UDP; a tunnel for TCP, too, if long probes pass | the form, if one of 72 never arrives | until a route, the sink or the configuration changes, or counts differ; tried again after 1 to 16 minutes | counts, fallen connections |
//! | stray packets of both directions (`strays_back`) | tunnels | tunnels | sent again every 10 s while packets are tagged; 20 s without a daemon at the sink's host end it | nothing: without them nothing goes in a tunnel |
//! | counts of both ends (`witness`) | nothing | the form of which none arrives, or of which too few do in five seconds in a row; two make it be proved again | 1 to 16 minutes | nothing |
//! | the same of the last two datagrams in options | nothing | the form | until probes tell, at once at first and after 10 to 160 seconds later | nothing |
//! | connections that were given up (`falls`) | nothing | the form of TCP, if three are within 10 s and nothing of the pair arrives | 1 to 16 minutes | counts that grow |
//! | TCP's acknowledgements (the guard, and the room for options, in the kernel) | nothing | one connection | its life | nothing |
//!
//! What closes is stronger than what opens, and nothing that opens is believed for longer than what it was seen of. The guard
//! decides alone, packet by packet, because a connection cannot wait for a daemon.

use crate::model::{Encapsulation, Encapsulations, ProbeForm, ProbeForms, Transport, Ways};

/// What is known of a pair's path while there is a lease.
#[derive(Clone, Copy, Debug)]
pub struct PathEvidence {
    /// Encapsulations that the user chose on some interface.
    pub wished: Encapsulations,
    /// Encapsulations that the sink reads as this host would send them.
    pub read: Encapsulations,
    /// Forms whose probes all arrived, of stray packets in both directions, and that nothing has closed since.
    pub passed: ProbeForms,
    /// Forms whose longest packets are shorter than the route says.
    pub narrow: ProbeForms,
    /// Packets in options of TCP were not given up lately.
    pub options_trusted: bool,
    /// The pair's addresses are those of IPv6.
    pub ipv6: bool,
}

impl PathEvidence {
    /// The ways that are open.
    ///
    /// Packets of a tunnel have to survive outside of it, too, in both directions: a firewall that did not see a conversation
    /// begin would drop answers that go untagged, packets that are too long, and all of them once the tunnel is left. TCP in
    /// over-tcp-udp and int-md cannot be probed without harm. On paths that are narrower than this host knows, a tunnel would
    /// hide the MSS in a SYN from the router that lowers it.
    pub fn ways(&self) -> Ways {
        let passes = |one| self.passed.contains(ProbeForm::of(one)) && self.read.contains(one);
        let ioam = self.ipv6 && self.is_wished_and_read(Encapsulation::Ioam);
        let over = match ioam {
            true => Encapsulation::Ioam,
            false => Encapsulation::OverTcpUdp,
        };
        let mut ways = Ways::NONE;
        for datagrams in [over, Encapsulation::IntMd, Encapsulation::Options] {
            if passes(datagrams) {
                ways = ways.with(Ways::of(Transport::Udp, datagrams));
            }
        }
        if self.options_trusted && self.is_wished_and_read(Encapsulation::Options) {
            ways = ways.with(Ways::of(Transport::Tcp, Encapsulation::Options));
        }
        for tunnel in [Encapsulation::ExtensionUdp, Encapsulation::VxlanGpe] {
            if passes(tunnel) && self.passed.contains(ProbeForm::Stray) {
                ways = ways.with(Ways::of(Transport::Udp, tunnel));
                if !self.narrow.contains(ProbeForm::of(tunnel)) {
                    ways = ways.with(Ways::of(Transport::Tcp, tunnel));
                }
            }
        }
        ways
    }

    fn is_wished_and_read(&self, one: Encapsulation) -> bool {
        self.wished.contains(one) && self.read.contains(one)
    }
}
