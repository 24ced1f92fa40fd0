//! Pairs by what their hosts have in common: a label such as rack or zone, or the host at one end.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::model::{
    BesideUsual, CollectStatus, CorrectedMean, LatencyResolution, MatrixFigure, NodeId,
    PairFigures, PairUsuals,
};

/// What a host without the label is under.
const NONE: &str = "(none)";

/// Most groups in one response.
const MOST_GROUPS: usize = 2_500;

/// More is unusual for the page where it is not known what is usual.
pub(super) const UNUSUAL_LOSS: f64 = 0.001;

/// A last report that is older than this is shown.
const OLD_NS: u64 = 30_000_000_000;

/// By what pairs are grouped.
#[derive(Debug)]
pub(super) enum Grouping {
    /// All pairs to a host, and all from it.
    Host,
    /// The values of both hosts' labels of this key.
    Label(String),
    /// Not at all: only the pairs from hosts of one group to those of another.
    Within(String, [String; 2]),
}

/// The groups of hosts.
pub(super) struct HostGroups {
    by: Grouping,
    values: HashMap<NodeId, String>,
}

/// A value to sort by; one that is not known is the least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rank(pub(super) f64);

impl Eq for Rank {}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The figure of a pair, as people are shown it.
pub(super) fn value(pair: &PairFigures, figure: MatrixFigure) -> f64 {
    let shown = pair.figures.shown();
    let latency = shown.quantiles();
    let ns = match figure {
        MatrixFigure::P50 => latency.and_then(|of| of.p50_ns),
        MatrixFigure::P99 => latency.and_then(|of| of.p99_ns),
        MatrixFigure::Jitter => latency.and_then(|of| of.jitter_ns),
        MatrixFigure::Loss => return loss(shown.lost, shown.packets),
    };
    ns.map_or(f64::NEG_INFINITY, |ns| ns as f64)
}

fn loss(lost: u64, packets: u64) -> f64 {
    lost as f64 / packets.max(lost).max(1) as f64
}

/// A number in as many digits as numbers below `most` have.
pub(super) fn rounded(number: i64, most: i64) -> i64 {
    let mut place = 1;
    while (number / place).abs() >= most {
        place *= 10;
    }
    number.saturating_add(number.signum() * (place / 2)) / place * place
}

/// People are shown three digits of numbers of 100,000 or more.
pub(super) fn rounded_count(count: u64) -> i64 {
    rounded(i64::try_from(count).unwrap_or(i64::MAX), 100_000)
}

pub(super) fn error_of(corrected: CorrectedMean) -> i64 {
    i64::try_from(corrected.error_ns).unwrap_or(i64::MAX)
}

/// One end of a group.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(untagged)]
enum GroupEnd<'a> {
    All,
    Host(NodeId),
    Label(&'a str),
}

/// The groups of an answer.
#[derive(Serialize)]
pub(super) struct PairGroups<'a> {
    groups_total: usize,
    groups: GroupColumns<'a>,
}

/// The groups by column, which takes half the bytes of rows: sums of packets, and the latencies of one of a group's pairs,
/// because quantiles do not add up.
#[derive(Default, Serialize)]
struct GroupColumns<'a> {
    source: Vec<GroupEnd<'a>>,
    sink: Vec<GroupEnd<'a>>,
    pairs: Vec<usize>,
    packets: Vec<i64>,
    lost: Vec<i64>,
    /// The pair that has these latencies.
    of_source: Vec<NodeId>,
    of_sink: Vec<NodeId>,
    p50_ns: Vec<Option<i64>>,
    p99_ns: Vec<Option<i64>>,
    /// The error of the difference of the clocks, where that is known.
    error_ns: Vec<Option<i64>>,
    /// The latencies are those of this number of reports.
    of_reports: Vec<Option<u64>>,
    /// The slots of histograms for each power of two.
    steps: Vec<Option<u8>>,
    /// The pair that lost the greatest share, where much was lost.
    lossiest: Vec<Option<[NodeId; 2]>>,
    /// Pairs lost more than is usual for them, or were slower.
    more_lost: Vec<bool>,
    slower: Vec<bool>,
    /// The time of the last report, if that is old.
    last_ns: Vec<Option<u64>>,
}

impl HostGroups {
    pub(super) fn new(by: Grouping, status: &CollectStatus) -> Self {
        let mut values = HashMap::new();
        if let Grouping::Label(key) | Grouping::Within(key, _) = &by {
            for one in &status.exporters {
                if let (Some(node), Some(value)) = (one.node, one.labels.get(key)) {
                    values.insert(node, value.clone());
                }
            }
        }
        Self { by, values }
    }

    fn of_node(&self, node: NodeId) -> &str {
        self.values.get(&node).map_or(NONE, String::as_str)
    }

    /// False for a pair that was not asked for.
    pub(super) fn has(&self, pair: &PairFigures) -> bool {
        match &self.by {
            Grouping::Within(_, [from, to]) => {
                self.of_node(pair.source) == from && self.of_node(pair.sink) == to
            }
            _ => true,
        }
    }

    /// The groups of all pairs: of too many those that are worst by a figure. `None`: pairs are not grouped.
    pub(super) fn sum_up<'a>(
        &'a self,
        pairs: &'a [PairFigures],
        usual: &PairUsuals,
        (figure, hosts, until_ns): (MatrixFigure, usize, u64),
    ) -> Option<PairGroups<'a>> {
        let mut members: BTreeMap<[GroupEnd<'_>; 2], Vec<&PairFigures>> = BTreeMap::new();
        for pair in pairs {
            let mut add = |ends| members.entry(ends).or_default().push(pair);
            match self.by {
                Grouping::Within(..) => return None,
                Grouping::Label(_) => {
                    add([pair.source, pair.sink].map(|node| GroupEnd::Label(self.of_node(node))));
                }
                Grouping::Host => {
                    add([GroupEnd::All, GroupEnd::Host(pair.sink)]);
                    add([GroupEnd::Host(pair.source), GroupEnd::All]);
                }
            }
        }
        let mut groups: Vec<_> = members
            .into_iter()
            .filter_map(|(ends, members)| PairGroup::new(ends, members, figure))
            .collect();
        let groups_total = match self.by {
            Grouping::Host => keep_hosts(&mut groups, hosts),
            _ => keep(&mut groups),
        };
        let mut columns = GroupColumns::default();
        for group in &groups {
            group.add_to(&mut columns, usual, until_ns);
        }
        Some(PairGroups {
            groups_total,
            groups: columns,
        })
    }
}

/// Keeps the worst groups, in the order of their ends. Returns how many there were.
fn keep(groups: &mut Vec<PairGroup<'_>>) -> usize {
    let total = groups.len();
    if total > MOST_GROUPS {
        groups.sort_by_key(|group| Reverse(group.worth));
        groups.truncate(MOST_GROUPS);
        groups.sort_by_key(|group| group.ends);
    }
    total
}

/// Keeps the groups of the hosts that are worst in any direction, with both directions of each, the worst host first.
/// Returns how many hosts there were.
fn keep_hosts(groups: &mut Vec<PairGroup<'_>>, most: usize) -> usize {
    groups.sort_by_key(|group| Reverse(group.worth));
    let mut places = HashMap::new();
    for group in groups.iter() {
        let next = places.len();
        places.entry(group.host()).or_insert(next);
    }
    let most = most.min(MOST_GROUPS / 2);
    groups.retain(|group| places[&group.host()] < most);
    groups.sort_by_key(|group| (places[&group.host()], group.ends));
    places.len()
}

/// Pairs with both ends in common.
struct PairGroup<'a> {
    ends: [GroupEnd<'a>; 2],
    members: Vec<&'a PairFigures>,
    /// The pair whose latencies are shown: the slowest of a label's groups; of a host's pairs the one that half of them
    /// exceed, because one slow pair makes neither of its hosts slow.
    of: &'a PairFigures,
    packets: u64,
    lost: u64,
    worth: Rank,
}

impl<'a> PairGroup<'a> {
    /// `None` if there is no pair.
    fn new(
        ends: [GroupEnd<'a>; 2],
        mut members: Vec<&'a PairFigures>,
        figure: MatrixFigure,
    ) -> Option<Self> {
        members.sort_by_cached_key(|pair| Reverse(Rank(value(pair, MatrixFigure::P99))));
        let of = *match ends.contains(&GroupEnd::All) {
            true => members.get(members.len() / 2)?,
            false => members.first()?,
        };
        let shown = members.iter().map(|pair| pair.figures.shown());
        let (packets, lost) = shown.fold((0, 0), |(packets, lost), one| {
            (packets + one.packets, lost + one.lost)
        });
        let worth = match figure {
            MatrixFigure::Loss => loss(lost, packets),
            _ => value(of, figure),
        };
        Some(Self {
            ends,
            members,
            of,
            packets,
            lost,
            worth: Rank(worth),
        })
    }

    /// The end that is a host, if one is.
    fn host(&self) -> GroupEnd<'a> {
        let [source, sink] = self.ends;
        if source == GroupEnd::All {
            sink
        } else {
            source
        }
    }

    /// The least number of pairs that make the group unusual.
    fn enough(&self) -> usize {
        match self.ends.contains(&GroupEnd::All) {
            true => self.members.len().div_ceil(2),
            false => 1,
        }
    }

    fn add_to(&self, to: &mut GroupColumns<'a>, usual: &PairUsuals, until_ns: u64) {
        let [source, sink] = self.ends;
        to.source.push(source);
        to.sink.push(sink);
        to.pairs.push(self.members.len());
        to.packets.push(rounded_count(self.packets));
        to.lost.push(rounded_count(self.lost));
        let shown = self.of.figures.shown();
        let latency = shown.quantiles();
        let ns = |of: Option<i64>| of.map(|ns| rounded(ns, 1_000));
        to.of_source.push(self.of.source);
        to.of_sink.push(self.of.sink);
        to.p50_ns.push(ns(latency.and_then(|of| of.p50_ns)));
        to.p99_ns.push(ns(latency.and_then(|of| of.p99_ns)));
        let corrected = shown.corrected.filter(|_| shown.is_corrected());
        to.error_ns.push(ns(corrected.map(error_of)));
        to.of_reports.push(shown.of_reports);
        to.steps
            .push(shown.resolution.map(LatencyResolution::steps));
        let lossiest = self.lossiest();
        to.lossiest
            .push(lossiest.map(|pair| [pair.source, pair.sink]));
        let compared = |pair: &&PairFigures| {
            let usual = usual.get(&(pair.source, pair.sink))?;
            usual.compare(&pair.figures)
        };
        let beside: Vec<BesideUsual> = self.members.iter().filter_map(compared).collect();
        let are = |is: fn(&BesideUsual) -> bool| {
            beside.iter().filter(|one| is(one)).count() >= self.enough()
        };
        to.more_lost.push(are(|of| of.more_lost));
        to.slower.push(are(|of| of.slower));
        let last_ns = self.members.iter().filter_map(|pair| pair.last_ns).max();
        to.last_ns
            .push(last_ns.filter(|last_ns| until_ns.saturating_sub(*last_ns) > OLD_NS));
    }

    /// The pair that lost the greatest share, if much was lost.
    fn lossiest(&self) -> Option<&'a PairFigures> {
        let with_loss = self.members.iter().map(|pair| {
            let share = value(pair, MatrixFigure::Loss);
            (Rank(share), *pair)
        });
        let most = with_loss.max_by_key(|(share, _)| *share)?;
        (most.0 > Rank(UNUSUAL_LOSS)).then_some(most.1)
    }
}
