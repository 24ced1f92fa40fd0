//! The source's doubts and the sink's word on them: flows whose tagged packets arrive are vouched for.

use std::time::Duration;

use anyhow::{Context, Result};

use crate::datapath::doubts::DoubtRing;
use crate::datapath::pins::Pins;
use crate::lease::LeaseKeeper;
use crate::model::{AddressPair, FlowAsked, FlowKey};

/// The most flows that wait for a word.
const MOST: usize = 1024;

/// The ring of doubts, and the flows that are in doubt.
#[derive(Default)]
pub(super) struct DoubtReader {
    ring: Option<DoubtRing>,
    /// A vouch names the flow with its VLANs, which the sink is not asked about.
    flows: Vec<FlowKey>,
}

fn asked(flow: &FlowKey) -> (AddressPair, FlowAsked) {
    let pair = AddressPair {
        source: flow.src,
        dest: flow.dst,
    };
    let asked = FlowAsked {
        sport: flow.sport,
        dport: flow.dport,
        protocol: flow.protocol,
    };
    (pair, asked)
}

impl DoubtReader {
    /// Opens the ring of the source that is there now. Returns `None` if there is no ring.
    pub(super) fn open(pins: &Pins) -> Result<Option<Self>> {
        let ring = DoubtRing::open(pins).context("cannot open the ring of doubted flows")?;
        Ok(ring.map(|ring| Self {
            ring: Some(ring),
            flows: Vec::new(),
        }))
    }

    /// Reads the ring: the sinks of doubted flows are to be asked.
    pub(super) fn raise(&mut self, keeper: &mut LeaseKeeper, now_ns: u64) -> Result<()> {
        let Some(ring) = &mut self.ring else {
            return Ok(());
        };
        let flows = &mut self.flows;
        // Those that are still doubted come again.
        if flows.len() == MOST {
            flows.clear();
        }
        let drained = ring.drain(Duration::ZERO, |flow| {
            let (pair, asked) = asked(&flow);
            keeper.doubt(&pair, asked, now_ns);
            if !flows.contains(&flow) && flows.len() < MOST {
                flows.push(flow);
            }
        });
        drained.context("cannot read the ring of doubted flows")
    }

    /// Takes the flow of a pair out of those in doubt, once for each VLAN that it was seen in.
    pub(super) fn settle(&mut self, pair: &AddressPair, vouched: FlowAsked) -> Vec<FlowKey> {
        let settled = self
            .flows
            .extract_if(.., |flow| asked(flow) == (*pair, vouched));
        settled.collect()
    }
}
