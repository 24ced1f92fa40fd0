//! Answers about flows: those with most trouble, and the figures of one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension, Row};

use super::hosts::searched_names;
use super::ids::name_of;
use super::period::RollUpTable;
use super::plan::Horizons;
use super::pods;
use super::rows::{class_names, last_report_ns, rows_of_one, sums_of_all};
use super::sums::Sums;
use crate::model::{
    ClassFigures, FlowFigures, FlowKey, FlowOrder, FlowPods, FlowQuery, FlowTime, Measured, NodeId,
    PodBook, PodsOf, SearchWords, Span,
};

/// A row of the table of flows.
struct FlowRow {
    id: i64,
    flow: FlowKey,
    source: Option<NodeId>,
    sink: Option<NodeId>,
    class: i64,
    first_ns: u64,
    /// The end of the hour of the last report.
    until_ns: u64,
}

const FLOW_COLUMNS: &str = "id, key, class, first_ns, until_ns";

/// The words of a search, and the names by which it finds nodes and pods.
#[derive(Default)]
struct Search {
    words: SearchWords,
    names: HashMap<NodeId, String>,
    pods: PodBook,
    span: Span,
}

impl Search {
    fn new(conn: &Connection, text: Option<&str>, span: Span) -> rusqlite::Result<Self> {
        let words = SearchWords::new(text.unwrap_or_default());
        if words.is_empty() {
            return Ok(Self::default());
        }
        Ok(Self {
            words,
            names: searched_names(conn)?,
            pods: pods::read(conn, span)?,
            span,
        })
    }
}

impl FlowRow {
    /// `None` if the key is damaged.
    fn read(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let Some((flow, source, sink)) = name_of(row.get_ref(1)?.as_blob()?) else {
            return Ok(None);
        };
        Ok(Some(Self {
            id: row.get(0)?,
            flow,
            source,
            sink,
            class: row.get(2)?,
            first_ns: row.get::<_, i64>(3)? as u64,
            until_ns: row.get::<_, i64>(4)? as u64,
        }))
    }

    fn find(conn: &Connection, id: i64) -> rusqlite::Result<Option<Self>> {
        let sql = format!("SELECT {FLOW_COLUMNS} FROM flow WHERE id = ?");
        let found = conn.prepare_cached(&sql)?.query_row([id], Self::read);
        Ok(found.optional()?.flatten())
    }

    fn fits(&self, query: &FlowQuery, class: Option<&str>, search: &Search) -> bool {
        let node = |asked: Option<NodeId>, own| asked.is_none_or(|asked| own == Some(asked));
        if !(node(query.source, self.source)
            && node(query.sink, self.sink)
            && query
                .class
                .as_deref()
                .is_none_or(|asked| class == Some(asked)))
        {
            return false;
        }
        if search.words.is_empty() {
            return true;
        }
        let mut text = format!("{} {}", self.flow, class.unwrap_or_default());
        let lasted = Span {
            since_ns: self.first_ns.max(search.span.since_ns),
            until_ns: self.until_ns.min(search.span.until_ns),
        };
        for address in [self.flow.src, self.flow.dst] {
            for name in search.pods.within(address, lasted) {
                text += &format!(" {name} {}/{}", name.namespace, name.workload);
            }
        }
        text = text.to_lowercase();
        for node in [self.source, self.sink].into_iter().flatten() {
            text += search.names.get(&node).map_or("", String::as_str);
        }
        search.words.fit(&text)
    }

    fn figures(
        self,
        conn: &Connection,
        sums: &Sums,
        class: Option<&str>,
        span: Span,
    ) -> rusqlite::Result<FlowFigures> {
        let last_ns = last_report_ns(conn, sums, span)?.unwrap_or(self.first_ns);
        Ok(FlowFigures {
            id: self.id,
            flow: self.flow,
            source: self.source,
            sink: self.sink,
            class: class.map(str::to_owned),
            first_ns: self.first_ns,
            last_ns: last_ns.max(self.first_ns),
            pods: FlowPods::default(),
            loss_split: None,
            figures: sums.figures(),
        })
    }
}

/// Returns the figure that flows are sorted by, the largest first. Flows without the figure come last.
fn rank(order: FlowOrder, sums: &Sums) -> i64 {
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let measured = (sums.measured.summaries > 0).then_some(&sums.measured);
    let latency = measured.map_or(&sums.latency, |measured| &measured.latency);
    match order {
        FlowOrder::Loss => count(measured.map_or(sums.lost, Measured::missing)),
        FlowOrder::Packets => count(measured.map_or(sums.packets, Measured::sent)),
        FlowOrder::Latency => latency.quantile(0.99).unwrap_or(i64::MIN),
        FlowOrder::Jitter => latency
            .figures()
            .and_then(|latency| latency.jitter_ns)
            .unwrap_or(i64::MIN),
    }
}

pub fn top(conn: &Connection, query: &FlowQuery, span: Span) -> rusqlite::Result<Vec<FlowFigures>> {
    let mut sums = sums_of_all(conn, RollUpTable::Flow, span)?;
    let classes = class_names(conn)?;
    let class_of = |flow: &FlowRow| classes.get(&flow.class).map(String::as_str);
    let search = Search::new(conn, query.search.as_deref(), span)?;
    let all = query.source.is_none()
        && query.sink.is_none()
        && query.class.is_none()
        && search.words.is_empty();
    if !all {
        let mut every = conn.prepare_cached(&format!("SELECT {FLOW_COLUMNS} FROM flow"))?;
        let mut rows = every.query([])?;
        while let Some(row) = rows.next()? {
            let known = FlowRow::read(row)?;
            let fits = known.is_some_and(|flow| flow.fits(query, class_of(&flow), &search));
            if !fits {
                sums.remove(&row.get(0)?);
            }
        }
    }
    let mut ranked: Vec<(i64, i64)> = sums
        .iter()
        .map(|(id, sums)| (rank(query.order, sums), *id))
        .collect();
    ranked.sort_unstable_by_key(|(rank, id)| (Reverse(*rank), *id));
    let mut flows = Vec::new();
    for (_, id) in ranked {
        if flows.len() >= query.limit {
            break;
        }
        if let (Some(known), Some(sums)) = (FlowRow::find(conn, id)?, sums.get(&id)) {
            let class = class_of(&known);
            flows.push(known.figures(conn, sums, class, span)?);
        }
    }
    Ok(flows)
}

pub fn one(conn: &Connection, id: i64, span: Span) -> rusqlite::Result<Option<FlowFigures>> {
    let Some(known) = FlowRow::find(conn, id)? else {
        return Ok(None);
    };
    let mut sums = Sums::default();
    let segments = Horizons::read(conn, RollUpTable::Flow)?.of_one(span);
    rows_of_one(conn, (RollUpTable::Flow, id), &segments, |_, row| {
        sums.merge(row)
    })?;
    let classes = class_names(conn)?;
    let class = classes.get(&known.class).map(String::as_str);
    known.figures(conn, &sums, class, span).map(Some)
}

/// The figures of all flows by the names of the pods at both ends. Those that no pod has a part in are one row, `-`.
pub fn by_pods(conn: &Connection, by: PodsOf, span: Span) -> rusqlite::Result<Vec<ClassFigures>> {
    let book = pods::read(conn, span)?;
    if book.is_empty() {
        return Ok(Vec::new());
    }
    let sums = sums_of_all(conn, RollUpTable::Flow, span)?;
    let mut groups = BTreeMap::<String, Sums>::new();
    let mut every = conn.prepare_cached(&format!("SELECT {FLOW_COLUMNS} FROM flow"))?;
    let mut rows = every.query([])?;
    while let Some(row) = rows.next()? {
        let (Some(flow), Some(sums)) = (FlowRow::read(row)?, sums.get(&row.get(0)?)) else {
            continue;
        };
        let time = FlowTime {
            last_ns: last_report_ns(conn, sums, span)?.unwrap_or(flow.first_ns),
            begun_ns: Some(flow.first_ns),
        };
        let class = FlowPods::of(&book, &flow.flow, time).text(by);
        let group = groups.entry(class.unwrap_or_else(|| "-".to_owned()));
        group.or_default().merge(sums);
    }
    let figures = |(class, sums): (String, Sums)| ClassFigures {
        class,
        loss_of_all: None,
        figures: sums.figures(),
    };
    Ok(groups.into_iter().map(figures).collect())
}
