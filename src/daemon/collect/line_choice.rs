//! Which reports become lines: those that the user chose, and totals only where they are asked for.

use crate::cli::{LineArgs, NodeArg};
use crate::collector::ReceivedReport;
use crate::model::{FlowKey, NodeId, NodeNames};

/// What the user chose.
pub struct LineChoice {
    args: LineArgs,
    /// Totals are left out, which hosts repeat each period.
    news_only: bool,
}

impl LineChoice {
    pub fn new(args: &LineArgs, is_json: bool) -> Self {
        Self {
            news_only: !(is_json || args.all || !args.kind.is_empty()),
            args: args.clone(),
        }
    }

    pub fn is_filter(&self) -> bool {
        self.args.is_filter()
    }

    pub fn takes(&self, received: &ReceivedReport<'_>, names: &NodeNames) -> bool {
        let observation = &received.report.observation;
        if self.news_only && observation.is_repeated() {
            return false;
        }
        let (kinds, asked) = (&self.args.kind, &self.args.node);
        if !kinds.is_empty() && !kinds.iter().any(|kind| kind == observation.kind()) {
            return false;
        }
        if asked.is_empty() && self.args.flow.is_empty() {
            return true;
        }
        let nodes = observation.nodes();
        let is_about = |arg: &NodeArg| nodes.iter().any(|node| is_called(*node, arg, names));
        (asked.is_empty() || asked.iter().any(is_about))
            && self.takes_flow(observation.flow(), received.class, &nodes, names)
    }

    /// Of what a capture tells beside reports, which has a flow and neither kind nor node.
    pub fn takes_captured(&self, flow: FlowKey) -> bool {
        self.args.kind.is_empty()
            && self.args.node.is_empty()
            && self.takes_flow(Some(flow), None, &[], &NodeNames::NONE)
    }

    /// The words of a flow are those that `hostint history flows --search` finds it by.
    fn takes_flow(
        &self,
        flow: Option<FlowKey>,
        class: Option<&str>,
        nodes: &[NodeId],
        names: &NodeNames,
    ) -> bool {
        if self.args.flow.is_empty() {
            return true;
        }
        let Some(flow) = flow else {
            return false;
        };
        let mut text = format!("{flow} {}", class.unwrap_or_default());
        for name in nodes.iter().filter_map(|node| names.name(*node)) {
            text += " ";
            text += name;
        }
        let text = text.to_lowercase();
        self.args.flow.iter().any(|words| words.fit(&text))
    }
}

/// A name that several nodes tell ends in a question mark, which need not be typed.
fn is_called(node: NodeId, arg: &NodeArg, names: &NodeNames) -> bool {
    match arg {
        NodeArg::Id(id) => *id == node,
        NodeArg::Name(asked) => names
            .name(node)
            .is_some_and(|name| name.trim_end_matches('?') == asked.trim_end_matches('?')),
    }
}
