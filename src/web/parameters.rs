//! The parameters of a query string, checked.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::{Duration, UNIX_EPOCH};

use axum::extract::Query;
use axum::http::{StatusCode, Uri};
use clap::ValueEnum;

use super::form::AnswerForm;
use super::groups::Grouping;
use super::pairs::MOST_PAIRS;
use super::responses::HttpRefusal;
use crate::model::{
    ConnectionQuery, DropQuery, EpisodeQuery, FlowQuery, HistoryCall, Limit, NodeId, PassageQuery,
    PathQuery, Question, ReportQuery, Span, Subject, TcpQuestion, When,
};

/// Greatest number of characters in a text parameter.
const LONGEST_TEXT: usize = 200;

const MOST_ROWS: usize = 1000;
const MOST_COLUMNS: usize = 10_000;
const MOST_POINTS: usize = 2000;
const HOUR_NS: u64 = 3_600_000_000_000;

/// Parameters that have not been taken yet.
pub(super) struct Parameters(BTreeMap<String, String>);

type Parameter<T> = Result<T, HttpRefusal>;

impl Parameters {
    pub(super) fn of(uri: &Uri) -> Parameter<Self> {
        Self::within(uri, LONGEST_TEXT)
    }

    /// Those of a command line, which may be as long as all of a request.
    pub(super) fn of_call(uri: &Uri) -> Parameter<Self> {
        Self::within(uri, usize::MAX)
    }

    fn within(uri: &Uri, longest: usize) -> Parameter<Self> {
        let Query(given) = Query::<Vec<(String, String)>>::try_from_uri(uri)
            .map_err(|_| bad("the parameters are not of the form name=value&name=value"))?;
        let mut parameters = BTreeMap::new();
        for (name, value) in given {
            if value.chars().count() > longest {
                return Err(bad(&format!("{name} is longer than {longest} characters")));
            }
            if parameters.insert(name.clone(), value).is_some() {
                return Err(bad(&format!("{name} is given twice")));
            }
        }
        Ok(Self(parameters))
    }

    fn text(&mut self, name: &str) -> Option<String> {
        self.0.remove(name).filter(|text| !text.is_empty())
    }

    fn number<T: FromStr>(&mut self, name: &str, what: &str) -> Parameter<Option<T>> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let number = text.parse();
        number
            .map(Some)
            .map_err(|_| bad(&format!("{name} is {text:?}, expected {what}")))
    }

    fn at_most(&mut self, name: &str, default: usize, most: usize) -> Parameter<usize> {
        let expected = format!("a whole number from 1 to {most}");
        let number = self.number(name, &expected)?.unwrap_or(default);
        if !(1..=most).contains(&number) {
            return Err(bad(&format!("{name} is {number}, expected {expected}")));
        }
        Ok(number)
    }

    /// The given span, or the last hour.
    pub(super) fn span(&mut self, now_ns: u64) -> Parameter<Span> {
        let until_ns = self.time("until", now_ns)?.unwrap_or(now_ns);
        let since_ns = self.time("since", now_ns)?;
        let since_ns = since_ns.unwrap_or_else(|| until_ns.saturating_sub(HOUR_NS));
        // Stores keep times in signed 64-bit integers.
        if since_ns >= until_ns || i64::try_from(until_ns).is_err() {
            return Err(bad(&format!(
                "the time from since={since_ns} to until={until_ns} is empty or out of range"
            )));
        }
        Ok(Span { since_ns, until_ns })
    }

    /// A time in ns since the Unix epoch: a number of them, or as `hostint history` takes it.
    fn time(&mut self, name: &str, now_ns: u64) -> Parameter<Option<u64>> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let now = UNIX_EPOCH + Duration::from_nanos(now_ns);
        let as_written = || text.parse().ok().map(|when: When| when.ns(now));
        let ns = text.parse().ok().or_else(as_written);
        ns.map(Some).ok_or_else(|| {
            bad(&format!(
                "{name} is {text:?}, expected a time ago (1h), a time (2026-11-21T10:00:00Z), \
                 or ns since the Unix epoch"
            ))
        })
    }

    fn node(&mut self, name: &str) -> Parameter<Option<NodeId>> {
        self.number(name, "a node ID, 0 to 4294967295")
    }

    /// Both ends of a pair, or neither.
    fn pair(&mut self) -> Parameter<Option<(NodeId, NodeId)>> {
        match (self.node("source")?, self.node("sink")?) {
            (Some(source), Some(sink)) => Ok(Some((source, sink))),
            (None, None) => Ok(None),
            (Some(_), None) => Err(bad("source needs sink too")),
            (None, Some(_)) => Err(bad("sink needs source too")),
        }
    }

    fn ends(&mut self) -> Parameter<(Option<NodeId>, Option<NodeId>)> {
        Ok((self.node("source")?, self.node("sink")?))
    }

    /// One of the words that `hostint history` has for the same, or the first choice.
    fn choice<T: ValueEnum + Default>(&mut self, name: &str) -> Parameter<T> {
        let Some(asked) = self.text(name) else {
            return Ok(T::default());
        };
        let word = |choice: &T| {
            choice
                .to_possible_value()
                .map(|word| word.get_name().to_owned())
        };
        let chosen = T::value_variants()
            .iter()
            .find(|one| word(one).as_deref() == Some(&asked));
        chosen.cloned().ok_or_else(|| {
            let words = Vec::from_iter(T::value_variants().iter().filter_map(word));
            let (last, others) = words
                .split_last()
                .map_or(("", &[][..]), |(last, others)| (last.as_str(), others));
            let others = others.join(", ");
            bad(&format!("{name} is {asked:?}, expected {others} or {last}"))
        })
    }

    fn limit(&mut self) -> Parameter<usize> {
        self.at_most("limit", 100, MOST_ROWS)
    }

    fn points(&mut self, default: usize) -> Parameter<usize> {
        self.at_most("points", default, MOST_POINTS)
    }

    fn subject(&mut self) -> Parameter<Subject> {
        let flow = self.flow()?;
        match (self.pair()?, flow, self.text("class")) {
            (None, None, None) => Ok(Subject::All),
            (Some((source, sink)), None, None) => Ok(Subject::Pair { source, sink }),
            (None, Some(id), None) => Ok(Subject::Flow(id)),
            (None, None, Some(class)) => Ok(Subject::Class(class)),
            _ => Err(bad("flow, class and source with sink exclude each other")),
        }
    }

    fn limited(&mut self) -> Parameter<Option<Limit>> {
        let Some(asked) = self.text("limited") else {
            return Ok(None);
        };
        let named = Limit::ALL.into_iter().find(|limit| limit.name() == asked);
        let names = Limit::ALL.map(Limit::name).join(", ");
        named
            .map(Some)
            .ok_or_else(|| bad(&format!("limited is {asked:?}, expected one of {names}")))
    }

    /// The flow, for a request about one flow alone.
    fn flow(&mut self) -> Parameter<Option<i64>> {
        self.number("flow", "a flow's id")
    }

    /// All pairs, or with a limit the worst of them.
    pub(super) fn pairs(&mut self) -> Parameter<Question> {
        let (source, sink) = self.ends()?;
        Ok(Question::Pairs {
            source,
            sink,
            order: None,
            shown: self.choice("metric")?,
            limit: self.at_most("limit", MOST_PAIRS, MOST_PAIRS)?,
        })
    }

    /// What pairs are grouped by, or the groups whose pairs are asked for.
    pub(super) fn grouping(&mut self) -> Parameter<Option<Grouping>> {
        let by = self.text("by");
        match (by, self.text("from"), self.text("to")) {
            (None, None, None) => Ok(None),
            (Some(by), None, None) if by == "host" => Ok(Some(Grouping::Host)),
            (Some(by), None, None) => Ok(Some(Grouping::Label(by))),
            (Some(by), Some(from), Some(to)) if by != "host" => {
                Ok(Some(Grouping::Within(by, [from, to])))
            }
            _ => Err(bad(
                "from and to need each other, and the key of a label in by",
            )),
        }
    }

    /// By the names of pods, if `by` is given.
    pub(super) fn classes(&mut self) -> Parameter<Question> {
        let by = match self.0.contains_key("by") {
            true => Some(self.choice("by")?),
            false => None,
        };
        Ok(Question::Classes { by })
    }

    pub(super) fn form(&mut self) -> Parameter<AnswerForm> {
        self.choice("form")
    }

    pub(super) fn flows(&mut self) -> Parameter<Question> {
        let (source, sink) = self.ends()?;
        let query = FlowQuery {
            source,
            sink,
            class: self.text("class"),
            search: self.text("search"),
            order: self.choice("order")?,
            limit: self.limit()?,
        };
        Ok(match self.flow()? {
            Some(id) => Question::FlowAlone(id),
            None => Question::Flows(query),
        })
    }

    pub(super) fn series(&mut self) -> Parameter<Question> {
        Ok(Question::Series {
            subject: self.subject()?,
            points: self.points(300)?,
        })
    }

    pub(super) fn reports(&mut self) -> Parameter<Question> {
        Ok(Question::Reports(ReportQuery {
            subject: self.subject()?,
            limit: self.limit()?,
        }))
    }

    /// The paths of a pair or of a flow.
    pub(super) fn paths(&mut self, hash: Option<String>) -> Parameter<Question> {
        let of = match (self.pair()?, self.flow()?) {
            (Some((source, sink)), None) => PathQuery::Pair { source, sink },
            (None, Some(id)) => PathQuery::Flow(id),
            _ => return Err(bad("expected source and sink, or flow")),
        };
        Ok(Question::Paths {
            of,
            hash,
            while_seen: false,
        })
    }

    /// One of them, by its hash.
    pub(super) fn path(&mut self) -> Parameter<Question> {
        let hash = self.text("hash").ok_or_else(|| {
            bad("hash is missing, expected a path's hash, as /api/paths gives it in path_hash")
        })?;
        self.paths(Some(hash))
    }

    pub(super) fn segments(&mut self) -> Parameter<Question> {
        Ok(Question::Segments {
            order: self.choice("sort")?,
            limit: self.limit()?,
        })
    }

    pub(super) fn drops(&mut self) -> Parameter<Question> {
        let query = DropQuery {
            by: self.choice("by")?,
            node: self.node("node")?,
            limit: self.limit()?,
        };
        let points = self.points(120)?;
        Ok(Question::Drops { query, points })
    }

    /// The flows that hosts forwarded, and without a flow all packets between interfaces.
    pub(super) fn hops(&mut self) -> Parameter<Question> {
        Ok(Question::Hops(PassageQuery {
            node: self.node("node")?,
            flow: self.flow()?,
            order: self.choice("order")?,
            limit: self.limit()?,
        }))
    }

    pub(super) fn queues(&mut self) -> Parameter<Question> {
        Ok(Question::Queues(EpisodeQuery {
            node: self.node("node")?,
            order: self.choice("order")?,
            limit: self.limit()?,
        }))
    }

    pub(super) fn tcp(&mut self) -> Parameter<Question> {
        let by = self.choice("by")?;
        let query = ConnectionQuery {
            order: self.choice("order")?,
            node: self.node("node")?,
            limited: self.limited()?,
            flow: self.flow()?,
            limit: self.limit()?,
        };
        let points = self.points(120)?;
        Ok(Question::Tcp(TcpQuestion::Whole { query, by, points }))
    }

    /// A command line of `hostint history`, and the room for its text.
    pub(super) fn call(&mut self) -> Parameter<HistoryCall> {
        let args = self.text("args").unwrap_or_default();
        let args = serde_json::from_str(&args).map_err(|_| {
            bad("args is no list of words in JSON, expected for instance [\"pairs\",\"--since\",\"10min\"]")
        })?;
        Ok(HistoryCall {
            args,
            columns: self.at_most("columns", 120, MOST_COLUMNS)?,
            folds: self.text("folds").is_some(),
        })
    }

    /// Refuses parameters that nothing has taken.
    pub(super) fn end(self) -> Parameter<()> {
        match self.0.into_keys().next() {
            Some(name) => Err(bad(&format!("{name:?} is not a parameter of this path"))),
            None => Ok(()),
        }
    }
}

fn bad(text: &str) -> HttpRefusal {
    HttpRefusal::new(StatusCode::BAD_REQUEST, text)
}
