//! What a row tells of a host: its drops, the way of packets through it, and episodes of its queues.

use super::row::{NO_FLOW, TableRow};
use crate::model::{
    DropPosition, DropSubject, FlowKey, FlowPassage, HostDrop, KernelReason, PacketPods,
    QueueEpisode, QueueFlow, Tunnel,
};

/// The way of a flow's packets through a host, where they were dropped or forwarded.
pub(super) struct HostWay<'a> {
    pub(super) in_interface: Option<&'a String>,
    pub(super) out_interface: Option<&'a String>,
    pub(super) in_ifindex: u32,
    pub(super) out_ifindex: u32,
    pub(super) pods: Option<&'a PacketPods>,
    pub(super) before_nat: FlowKey,
    pub(super) tunnel: Option<Tunnel>,
}

impl HostWay<'_> {
    const NONE: Self = Self {
        in_interface: None,
        out_interface: None,
        in_ifindex: 0,
        out_ifindex: 0,
        pods: None,
        before_nat: NO_FLOW,
        tunnel: None,
    };

    /// Returns the flow of the tunnel itself.
    pub(super) fn outer(&self) -> FlowKey {
        self.tunnel.map_or(NO_FLOW, |tunnel| tunnel.outer)
    }
}

impl TableRow<'_> {
    pub(super) fn way(&self) -> HostWay<'_> {
        match (self.drop(), self.hop()) {
            (Some(drop), _) => HostWay {
                in_interface: drop.in_interface.as_ref(),
                out_interface: drop.out_interface.as_ref(),
                in_ifindex: drop.in_ifindex,
                out_ifindex: drop.out_ifindex,
                pods: Some(&drop.pods),
                before_nat: drop.flow_before_nat.unwrap_or(NO_FLOW),
                tunnel: drop.tunnel,
            },
            (None, Some(hop)) => HostWay {
                in_interface: hop.in_interface.as_ref(),
                out_interface: hop.out_interface.as_ref(),
                in_ifindex: hop.in_ifindex,
                out_ifindex: hop.out_ifindex,
                pods: Some(&hop.pods),
                before_nat: hop.flow_before_nat.unwrap_or(NO_FLOW),
                tunnel: hop.tunnel,
            },
            (None, None) => HostWay::NONE,
        }
    }

    /// Returns the drops of a flow.
    pub(super) fn drop(&self) -> Option<&HostDrop> {
        self.record.host_drop.as_deref()
    }

    /// Returns what a sum of drops is of.
    pub(super) fn drop_sum(&self) -> Option<&DropSubject> {
        self.record.host_drop_sum.as_deref()
    }

    pub(super) fn drop_reason(&self) -> Option<&KernelReason> {
        let of_sum = self.drop_sum().map(|sum| &sum.reason);
        self.drop().map(|drop| &drop.reason).or(of_sum)
    }

    pub(super) fn drop_place(&self) -> Option<&String> {
        let of_flow = self.drop().and_then(|drop| drop.place.as_ref());
        of_flow.or_else(|| self.drop_sum()?.place.as_ref())
    }

    pub(super) fn drop_netns(&self) -> u32 {
        let of_sum = self.drop_sum().map(|sum| sum.netns);
        let netns = self.drop().map(|drop| drop.netns).or(of_sum);
        netns.unwrap_or(0)
    }

    pub(super) fn drop_position(&self) -> Option<DropPosition> {
        let of_sum = self.drop_sum().map(|sum| sum.position);
        self.drop().map(|drop| drop.position).or(of_sum)
    }

    /// Returns the packets of a flow that the host forwarded.
    pub(super) fn hop(&self) -> Option<&FlowPassage> {
        self.record.host_hop.as_deref()
    }

    /// Returns an episode of a queue.
    pub(super) fn episode(&self) -> Option<&QueueEpisode> {
        self.record.queue_episode.as_deref()
    }

    /// Returns a value of each flow of the episode.
    pub(super) fn culprits<T>(&self, value: fn(&QueueFlow) -> T) -> Vec<T> {
        let flows = self.episode().into_iter().flat_map(|one| &one.flows);
        flows.map(value).collect()
    }
}
