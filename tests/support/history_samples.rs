//! A made-up history of any number of nodes, computed from their names and the time alone.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use hostint::model::coverage::CoverageRow;
use hostint::model::*;

use crate::{report_samples, verdict_samples};

const SECOND: u64 = 1_000_000_000;

/// Periods as a store has them.
const PERIODS: [u64; 3] = [10 * SECOND, 60 * SECOND, 3600 * SECOND];

/// Node `n` of `nodes` has the ID `n`; flow `id` belongs to pair `id % pairs`.
#[derive(Clone)]
pub struct Synthetic {
    nodes: u32,
    flows_per_pair: u64,
    one_way: bool,
    ill: bool,
    /// Hosts in a rack, if there are racks.
    rack: Option<u32>,
    named: bool,
    pairs: Arc<[(u32, u32)]>,
}

pub fn now_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_nanos()).unwrap()
}

/// The node that has been silent for some time.
const SILENT_NODE: u32 = 4;

/// How long the ill one has been.
const ILL_NS: u64 = 1_200 * SECOND;

/// The time since a node's last report.
fn silence(node: u32) -> u64 {
    match node {
        SILENT_NODE => 900 * SECOND,
        _ => SECOND / 2,
    }
}

/// From 0 to 1, always the same for the same thing.
fn chance(of: impl Hash) -> f64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    (hasher.finish() >> 11) as f64 / (1u64 << 53) as f64
}

impl Synthetic {
    pub fn of(nodes: u32) -> Self {
        let all = (1..=nodes).flat_map(|source| (1..=nodes).map(move |sink| (source, sink)));
        let talks = |source, sink| nodes < 5 || chance(("talks", source, sink)) < 0.9;
        let pairs = all.filter(|(source, sink)| source != sink && talks(*source, *sink));
        Self {
            nodes,
            flows_per_pair: 12,
            one_way: false,
            ill: false,
            rack: None,
            named: false,
            pairs: pairs.collect(),
        }
    }

    /// Nodes with names, each of which sends to this number of others, near and far.
    pub fn of_peers(nodes: u32, peers: u32) -> Self {
        let sinks = move |source| (1..=peers).map(move |n| (source + 7 * n * n - 1) % nodes + 1);
        let pairs = (1..=nodes).flat_map(|source| sinks(source).map(move |sink| (source, sink)));
        Self {
            nodes,
            named: true,
            pairs: pairs.collect(),
            ..Self::of(0)
        }
    }

    pub fn one_pair() -> Self {
        Self {
            nodes: 2,
            flows_per_pair: 7,
            one_way: true,
            ill: false,
            rack: None,
            named: false,
            pairs: [(1, 2)].into(),
        }
    }

    /// The same in racks of this number of hosts.
    #[must_use]
    pub fn in_racks_of(self, hosts: u32) -> Self {
        Self {
            rack: Some(hosts),
            ..self
        }
    }

    fn rack_of(&self, node: u32) -> Option<(String, String)> {
        let rack = |hosts| ("rack".to_owned(), format!("r{}", node.div_ceil(hosts)));
        self.rack.map(rack)
    }

    /// The same, and for twenty minutes packets from node 3 to node 2 have been lost.
    #[must_use]
    pub fn ill(self) -> Self {
        Self { ill: true, ..self }
    }

    fn verdict_now(&self) -> NetworkVerdict {
        let subjects = [3, 2].map(|node| CauseSubject::Node(NodeId(node)));
        let cause = verdict_samples::cause(CauseKind::Pair, subjects.to_vec());
        let state = VerdictState::Degraded;
        let mut verdict = verdict_samples::verdict(state, vec![cause], Vec::new());
        let since_ns = now_ns() - ILL_NS;
        verdict.as_of_ns = now_ns();
        verdict.since_ns = since_ns;
        verdict.causes[0].since_ns = since_ns;
        verdict
    }

    /// What the ill one loses in this time, and else little.
    fn harm(&self, figures: &mut Figures, pair: (u32, u32), span: Span) {
        if !self.ill {
            return;
        }
        let since_ns = span.since_ns.max(now_ns() - ILL_NS);
        let bad_ns = span.until_ns.saturating_sub(since_ns);
        let bad = bad_ns as f64 / (span.until_ns - span.since_ns).max(1) as f64;
        let share = if pair == (3, 2) { 0.021 * bad } else { 0.0 };
        let lost =
            |packets: u64, lost: u64| lost.min(packets / 2000) + (share * packets as f64) as u64;
        figures.lost = lost(figures.packets, figures.lost);
        if let Some(measured) = &mut figures.measured {
            measured.lost = lost(figures.packets, measured.lost);
            measured.packets = figures.packets - measured.lost;
        }
    }

    /// What pairs usually are: as they are now, but for what is ill, and for the way from 7 to 1, which is slow.
    fn usual(&self) -> PairUsuals {
        let pairs = self.pairs.iter().filter(|_| self.ill);
        let usual = pairs.map(|&(source, sink)| {
            let mut figures = Self::figures(source, sink, 1, 3_600, 1.0);
            self.harm(
                &mut figures,
                (source, sink),
                Span {
                    since_ns: 0,
                    until_ns: 1,
                },
            );
            let shown = figures.shown();
            let loss = shown.lost as f64 / shown.packets as f64;
            let slow = if (source, sink) == (7, 1) { 3 } else { 1 };
            let p99_ns = shown.latency.unwrap().p99_ns.unwrap() / slow;
            let usual = PairUsual {
                loss,
                most_loss: 2.0 * loss + 3e-5,
                p99_ns: Some((p99_ns, p99_ns + p99_ns / 4)),
                is_corrected: sink % 6 != 5,
            };
            ((NodeId(source), NodeId(sink)), usual)
        });
        usual.collect()
    }

    /// Nothing is reported where there is no host.
    fn told<T>(&self, rows: Vec<T>) -> Vec<T> {
        rows.into_iter().filter(|_| self.nodes > 0).collect()
    }

    fn pair_of(&self, id: u64) -> (u32, u32) {
        self.pairs[usize::try_from(id).unwrap() % self.pairs.len()]
    }

    fn key(&self, id: u64) -> FlowKey {
        let (source, sink) = self.pair_of(id);
        let address = |node: u32| IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + node * 256 + 1));
        let udp = chance(("udp", id)) < 0.3;
        FlowKey {
            src: address(source),
            dst: address(sink),
            sport: 32_768 + (chance(("sport", id)) * 28_000.0) as u16,
            dport: [443, 5432, 9000, 4420, 53][(chance(("dport", id)) * 5.0) as usize],
            protocol: if udp { 17 } else { 6 },
            vlans: Vlans::NONE,
        }
    }

    /// Median of a pair in ns: hosts far from each other, and a few that suffer.
    fn base(source: u32, sink: u32) -> f64 {
        let far = (f64::from(source % 7) - f64::from(sink % 7)).abs();
        let trouble = if chance(("slow", source, sink)) < 0.03 || sink == 13 {
            12.0
        } else {
            1.0
        };
        (18_000.0 + 21_000.0 * far) * (0.8 + 0.4 * chance((source, sink))) * trouble
    }

    fn loss(source: u32, sink: u32) -> f64 {
        match chance(("loss", source, sink)) {
            c if c < 0.02 => 0.02,
            c if c < 0.15 || source == 3 => 0.0004,
            _ => 0.0,
        }
    }

    fn figures(source: u32, sink: u32, seed: u64, seconds: u64, share: f64) -> Figures {
        let packets = (seconds as f64 * 900.0 * share * (0.5 + chance((seed, "packets")))) as u64;
        let lost = packets as f64 * Self::loss(source, sink) * 2.0 * chance((seed, "lost"));
        let wave = 1.0 + 0.25 * (seed as f64 / 40.0).sin();
        let p50 = Self::base(source, sink) * wave * (0.9 + 0.2 * chance(seed));
        let p90 = p50 * (1.3 + 0.3 * chance((seed, 90)));
        let p99 = p90
            * (1.4
                + if chance((seed, "spike")) < 0.04 {
                    14.0
                } else {
                    chance((seed, 99))
                });
        let ns = |value: f64| value.round() as i64;
        let of_all = |factor: f64| LatencyFigures {
            samples: packets,
            min_ns: ns(p50 * 0.55),
            mean_ns: ns(p50 * factor),
            p50_ns: Some(ns(p50 * factor * 0.95)),
            p90_ns: Some(ns(p90 * factor * 0.9)),
            p99_ns: Some(ns(p99 * factor * 0.8)),
            max_ns: ns(p99 * 1.8),
            jitter_ns: Some(ns(p99 * factor * 0.8) - ns(p50 * factor * 0.95)),
        };
        // Every seventh source is a switch, which sends no summaries.
        let measured = (source % 7 != 6).then(|| MeasuredFigures {
            summaries: seconds / 10,
            packets: packets - lost as u64,
            bytes: packets * 700,
            lost: lost as u64,
            recovered: 0,
            reordered: packets / 5000,
            duplicates: 0,
            latency: Some(of_all(0.9)),
            // Every sixth sink tells nothing about its clock.
            corrected: (sink % 6 != 5).then(|| CorrectedMean {
                packets: of_all(0.9).samples,
                mean_ns: of_all(0.9).mean_ns,
                error_ns: 2_100,
                bound_ns: [0, of_all(0.9).mean_ns + 120_000],
            }),
            steps: if sink % 5 == 4 { 1 } else { 32 },
        });
        Figures {
            measured,
            reports: packets / 40 + 1,
            packets,
            lost: lost as u64,
            reordered: match chance((seed, "order")) {
                rare if rare < 0.1 => Some(packets / 5000),
                often if often < 0.9 => Some(0),
                _ => None,
            },
            latency: Some(LatencyFigures {
                samples: packets / 40 + 1,
                min_ns: ns(p50 * 0.6),
                mean_ns: ns(p50 * 1.1),
                p50_ns: Some(ns(p50)),
                p90_ns: Some(ns(p90)),
                p99_ns: Some(ns(p99)),
                max_ns: ns(p99 * 1.8),
                jitter_ns: Some(ns(p99 - p50)),
            }),
        }
    }

    fn flow_at(&self, id: u64, span: Span) -> FlowFigures {
        let (source, sink) = self.pair_of(id);
        let seconds = (span.until_ns - span.since_ns) / SECOND;
        let share = 1.0 / self.flows_per_pair as f64;
        let mut figures = Self::figures(source, sink, id, seconds, share);
        if let Some(latency) = &mut figures.latency {
            let more = |ns: i64| ns + (chance((id, "own")) * ns as f64 * 0.4) as i64;
            latency.p99_ns = latency.p99_ns.map(more);
            latency.jitter_ns = Some(latency.p99_ns.unwrap() - latency.p50_ns.unwrap());
        }
        // Sinks have a budget for summaries of flows.
        figures.measured = figures.measured.filter(|_| chance((id, "told")) < 0.8);
        self.harm(&mut figures, (source, sink), span);
        let lost = figures.shown().lost;
        let class = ["web", "database", "storage"].get((chance(("class", id)) * 4.0) as usize);
        FlowFigures {
            loss_split: (lost > 0).then(|| LossSplit {
                lost,
                source_host: Some(lost - lost / 3),
                sink_host: Some(0),
                network: Some(lost / 3),
                between: lost / 3,
                unsplit: 0,
                behind_strip: 20,
            }),
            id: id as i64,
            flow: self.key(id),
            source: Some(NodeId(source)),
            sink: Some(NodeId(sink)),
            class: class.map(|class| (*class).to_owned()),
            first_ns: span.since_ns + 7 * SECOND,
            last_ns: span.until_ns - (chance(("last", id)) * 30.0) as u64 * SECOND,
            pods: FlowPods::default(),
            figures,
        }
    }

    fn report(&self, id: u64, number: u64, received_ns: u64) -> Record {
        let (source, sink) = self.pair_of(id);
        let time_s = (received_ns / SECOND) as u32;
        let latency = (Self::base(source, sink) * (0.8 + chance((id, number)))) as u64;
        let sent = received_ns - 400_000;
        let hop = |node, at: u64| Hop {
            node: NodeId(node),
            ingress_port: 2,
            egress_port: 3,
            ingress_ts: at as u32,
            egress_ts: (at + 1_800) as u32,
            queue: None,
        };
        let body = if number % 9 == 4 {
            Body::DropSummary(DropSummary {
                version: ReportVersion::V05,
                time_s,
                source_node: NodeId(source),
                sink_node: NodeId(sink),
                source_port: 2,
                sink_port: 3,
                gap_time_s: time_s - 1,
                before_seq: number as u32 * 900,
                count: 3,
                flow: self.key(id),
            })
        } else {
            Body::Latency(LatencyReport {
                version: ReportVersion::V05,
                arrival_ns: None,
                time_s,
                packet: ReportedPacket::Named {
                    flow: self.key(id),
                    queue: Some(QueueDepth {
                        packets: 3,
                        bytes: 4_542,
                    }),
                },
                hops: HopStack::over(hop(source, sent), &[], hop(sink, sent + latency)),
                sequence: number as u32 * 900,
            })
        };
        let report = Report {
            sequence: number as u32,
            observation: Observation {
                hw_id: HwId::default(),
                flags: Flags {
                    tracked_flow: true,
                    ..Flags::default()
                },
                clock: Some(ClockState {
                    source: ClockSource::Tai,
                    synchronised: true,
                }),
                body,
            },
        };
        let exporter = IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + sink * 256 + 1));
        let arrival = Arrival {
            exporter: (exporter, 43_981).into(),
            received_ns,
        };
        Record::new(&report, Some(arrival)).in_class(Some("web"))
    }

    /// Coverage of a pair with a class, and of destinations without a sink.
    fn coverage(&self) -> Vec<CoverageRow> {
        let missed = |reason: &str, packets| [(reason.to_owned(), packets)].into();
        let missed_bytes = |reason: &str, bytes| [(reason.to_owned(), bytes)].into();
        let measured = CoverageRow {
            source: NodeId(1),
            sink: Some(NodeId(2)),
            class: Some("web".to_owned()),
            measured: Some(970),
            tagged: Some(970),
            missed: missed("too_long", 30),
            measured_bytes: Some(97_000),
            tagged_bytes: Some(97_000),
            missed_bytes: missed_bytes("too_long", Some(43_500)),
        };
        let elsewhere = CoverageRow {
            sink: None,
            class: None,
            measured: None,
            tagged: None,
            missed: missed("no_lease", 7),
            measured_bytes: None,
            tagged_bytes: None,
            missed_bytes: missed_bytes("no_lease", None),
            ..measured.clone()
        };
        let few = [measured, elsewhere].into_iter();
        few.filter(|_| self.nodes > 1).collect()
    }

    /// What a collector would say of itself.
    pub fn status(&self) -> CollectStatus {
        let now = now_ns();
        let exporters = (1..=self.nodes.min(1_000)).filter(|node| !self.one_way || *node == 2);
        let exporters: Vec<_> = exporters
            .map(|node| ExporterHealth {
                exporter: IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + node * 256 + 1)),
                node: Some(NodeId(node)),
                hw_id: 0,
                reports: 40_000 + u64::from(node) * 311,
                lost: if node % 5 == 3 {
                    u64::from(node) * 7
                } else {
                    0
                },
                duplicates: 0,
                restarts: u64::from(node % 11 == 4),
                unnumbered: 0,
                last_seen_ns: now - silence(node),
                reporting: node != SILENT_NODE,
                silent_after_ns: 60 * SECOND,
                clock: Some(if node % 6 == 5 { "realtime" } else { "tai" }),
                clock_synchronised: Some(node % 6 != 5),
                name: self.named.then(|| format!("host-{node}.example")),
                name_origin: self.named.then_some(NameOrigin::Told),
                name_contested: false,
                version: None,
                labels: self.rack_of(node).into_iter().collect(),
                interfaces: (self.named.then(|| (2, "eth0".to_owned())).into_iter()).collect(),
                lacks: Vec::new(),
            })
            .collect();
        let reports = if self.nodes == 0 {
            0
        } else {
            now / SECOND % 1_000_000_000
        };
        CollectStatus {
            schema: COLLECT_SCHEMA,
            started_ns: now - 90_000 * SECOND,
            datagrams: reports,
            bytes: reports * 92,
            reports,
            pods: Some(PodsStatus {
                named: 120,
                told_ns: now - SECOND,
                trouble: None,
            }),
            undecodable: 1,
            undecodable_last: Some(
                "192.0.2.1: INT type at offset 12 is 0x0, expected 0x1".to_owned(),
            ),
            reports_lost: exporters.iter().map(|one| one.lost).sum(),
            stored: reports,
            engines: vec![EngineStatus {
                engine: "kafka",
                destination: "broker:9092".to_owned(),
                trouble: Some("no broker answers".to_owned()),
                trouble_since_ns: Some(1),
                ..EngineStatus::default()
            }],
            hosts_known: exporters.len(),
            hosts_reporting: exporters.iter().filter(|one| one.reporting).count(),
            last_report_ns: exporters
                .iter()
                .map(|one| one.last_seen_ns)
                .max()
                .unwrap_or(0),
            exporters_total: exporters.len(),
            exporters,
            coverage: self.coverage(),
            segments: Vec::new(),
            mx_pairs: vec![MxPairRow {
                source: NodeId(1),
                sink: NodeId(2),
                joined: 1_000,
                incomplete: 10,
                missing: vec![MxMissingHop {
                    node: NodeId(9),
                    reports: 10,
                }],
            }],
            verdict: self.ill.then(|| Box::new(self.verdict_now())),
            usual: Arc::new(self.usual()),
            drops: self.told(report_samples::drop_rows()),
            tcp: self.told(report_samples::host_tcp_rows()),
            ..CollectStatus::default()
        }
    }
}

fn period_of(span: Span, points: usize) -> u64 {
    let length = span.until_ns - span.since_ns;
    let fine = PERIODS
        .into_iter()
        .find(|period| length / period <= points as u64);
    fine.unwrap_or(PERIODS[2])
}

impl History for Synthetic {
    fn extent(&mut self) -> Result<Extent, HistoryError> {
        if self.nodes == 0 {
            return Ok(Extent::default());
        }
        let now = now_ns();
        Ok(Extent {
            first_ns: now - 86_400 * SECOND,
            last_ns: now,
            reports: 12_345_678,
            flows: self.pairs.len() as u64 * self.flows_per_pair,
            bytes: 1 << 30,
            ..Extent::default()
        })
    }

    fn pairs(&mut self, span: Span) -> Result<Vec<PairFigures>, HistoryError> {
        let seconds = (span.until_ns - span.since_ns) / SECOND;
        let pairs = self.pairs.iter();
        Ok(pairs
            .map(|&(source, sink)| {
                let own = u64::from(source) << 32 | u64::from(sink);
                let seed = if self.named { own } else { 1 };
                let mut figures = Self::figures(source, sink, seed, seconds, 1.0);
                self.harm(&mut figures, (source, sink), span);
                PairFigures {
                    loss_split: None,
                    loss_of_all: None,
                    source: NodeId(source),
                    sink: NodeId(sink),
                    flows: self.flows_per_pair,
                    last_ns: Some(now_ns() - silence(sink)),
                    figures,
                }
            })
            .collect())
    }

    fn pair(
        &mut self,
        source: NodeId,
        sink: NodeId,
        span: Span,
    ) -> Result<Option<PairFigures>, HistoryError> {
        let mut pairs = self.pairs(span)?.into_iter();
        Ok(pairs.find(|pair| (pair.source, pair.sink) == (source, sink)))
    }

    fn flows(&mut self, query: &FlowQuery, span: Span) -> Result<Vec<FlowFigures>, HistoryError> {
        let ids = 0..self.pairs.len() as u64 * self.flows_per_pair;
        let mut flows: Vec<_> = ids
            .filter(|id| {
                let (source, sink) = self.pair_of(*id);
                query.source.is_none_or(|node| node.0 == source)
                    && query.sink.is_none_or(|node| node.0 == sink)
            })
            .take(20_000)
            .map(|id| self.flow_at(id, span))
            .filter(|flow| query.class.is_none() || query.class == flow.class)
            .filter(|flow| {
                let class = flow.class.as_deref().unwrap_or_default();
                let text = format!("{} {class}", flow.flow);
                let search = query.search.as_deref().unwrap_or_default();
                search.split_whitespace().all(|word| text.contains(word))
            })
            .collect();
        flows.sort_by_key(|flow| {
            let shown = flow.figures.shown();
            let latency = shown.latency.unwrap();
            std::cmp::Reverse(match query.order {
                FlowOrder::Loss => shown.lost as i64,
                FlowOrder::Latency => latency.p99_ns.unwrap(),
                FlowOrder::Jitter => latency.jitter_ns.unwrap(),
                FlowOrder::Packets => shown.packets as i64,
            })
        });
        flows.truncate(query.limit);
        Ok(flows)
    }

    fn flow(&mut self, id: i64, span: Span) -> Result<Option<FlowFigures>, HistoryError> {
        let known = self.pairs.len() as u64 * self.flows_per_pair;
        let id = u64::try_from(id).ok().filter(|id| *id < known);
        Ok(id.map(|id| self.flow_at(id, span)))
    }

    fn classes(&mut self, span: Span) -> Result<Vec<ClassFigures>, HistoryError> {
        let seconds = (span.until_ns - span.since_ns) / SECOND;
        let classes = ["database", "storage", "web"].map(|class| ClassFigures {
            class: class.to_owned(),
            loss_of_all: None,
            figures: Self::figures(3, 2, class.len() as u64, seconds, 8.0),
        });
        let few = classes.into_iter();
        Ok(few.filter(|_| self.nodes > 0).collect())
    }

    fn events(&mut self, span: Span) -> Result<Vec<NetworkEvent>, HistoryError> {
        let event = |kind, ago_s, text: &str, host: Option<&str>| NetworkEvent {
            kind,
            time_ns: now_ns() - ago_s * SECOND,
            text: text.to_owned(),
            host: host.map(str::to_owned),
            ..NetworkEvent::default()
        };
        let all = [
            event(EventKind::Restart, 2_700, "", Some("3")),
            event(EventKind::Restart, 2_400, "", Some("6")),
            event(EventKind::ClockStep, 2_100, "", Some("2")),
            event(EventKind::Deploy, 1_380, "web 1.2.3", None),
        ];
        let few = all.into_iter().filter(|_| self.ill);
        Ok(few
            .filter(|one| (span.since_ns..span.until_ns).contains(&one.time_ns))
            .collect())
    }

    fn past_verdicts(&mut self, span: Span) -> Result<Vec<PastVerdict>, HistoryError> {
        let turn = now_ns() - ILL_NS;
        let past = |begin_ns, until_ns, state, text: &str| PastVerdict {
            begin_ns,
            until_ns,
            state,
            text: text.to_owned(),
        };
        let ill = "degraded: packets from 3 to 2 are lost";
        let all = vec![
            past(turn - 7_200 * SECOND, turn, VerdictState::Healthy, ""),
            past(turn, now_ns(), VerdictState::Degraded, ill),
        ];
        let few = all.into_iter();
        Ok(few
            .filter(|one| self.ill && one.until_ns > span.since_ns && one.begin_ns < span.until_ns)
            .collect())
    }

    fn series(
        &mut self,
        subject: &Subject,
        span: Span,
        points: usize,
    ) -> Result<Series, HistoryError> {
        let period_ns = period_of(span, points);
        let (source, sink, share) = match subject {
            Subject::Pair { source, sink } => (source.0, sink.0, 1.0),
            Subject::Flow(id) if self.nodes > 0 => {
                let (source, sink) = self.pair_of(*id as u64);
                (source, sink, 0.1)
            }
            _ => (3, 2, self.pairs.len() as f64),
        };
        let first = span.since_ns / period_ns;
        // A collector that was down for a while.
        let gap = |at: u64| self.pairs.is_empty() || (20..26).contains(&(at - first));
        let points = (first..=span.until_ns / period_ns)
            .filter(|at| !gap(*at))
            .map(|at| {
                let mut figures = Self::figures(source, sink, at, period_ns / SECOND, share);
                let begin_ns = at * period_ns;
                let until_ns = begin_ns + period_ns;
                self.harm(
                    &mut figures,
                    (source, sink),
                    Span {
                        since_ns: begin_ns,
                        until_ns,
                    },
                );
                Point { begin_ns, figures }
            })
            .collect();
        Ok(Series { period_ns, points })
    }

    fn reports(&mut self, query: &ReportQuery, span: Span) -> Result<Vec<Record>, HistoryError> {
        let id = match query.subject {
            Subject::Flow(id) => id as u64,
            _ => 0,
        };
        if self.nodes == 0 {
            return Ok(Vec::new());
        }
        // One each 250 ms, at times that nothing but whole ns tell apart.
        let step = SECOND / 4;
        let newest = (span.until_ns.saturating_sub(124)) / step;
        let oldest = span.since_ns.div_ceil(step);
        Ok((oldest..=newest)
            .rev()
            .take(query.limit)
            .map(|at| self.report(id, at % 1_000_000, at * step + 123))
            .collect())
    }

    fn drops(&mut self, query: &DropQuery, span: Span) -> Result<Vec<DropFigures>, HistoryError> {
        if self.nodes == 0 {
            return Ok(Vec::new());
        }
        let flow = self.flow_at(0, span).flow;
        let drop = |reason: &str, place: &str, position, packets| DropFigures {
            node: Some(query.node.unwrap_or(NodeId(1))),
            reason: Some(reason.to_owned()),
            place: Some(place.to_owned()),
            interface: Some("eth1".to_owned()),
            flow: (query.by == DropGrouping::Flow).then_some(flow),
            position: Some(position),
            count: DropCount {
                packets,
                segments: packets,
                bytes: 1000 * packets,
            },
            ..DropFigures::default()
        };
        let behind = (DropPosition::BehindTag, DropPosition::BehindStrip);
        let mut all = vec![
            drop("QDISC_DROP", "__dev_queue_xmit", behind.0, 186),
            drop("SOCKET_RCVBUFF", "udp_queue_rcv_one_skb", behind.1, 20),
            drop("NO_SOCKET", "__udp4_lib_rcv", DropPosition::Apart, 3),
        ];
        if query.by == DropGrouping::Flow {
            all[2].tunnel = Some(TunnelId {
                kind: TunnelKind::Vxlan,
                id: 42,
            });
        }
        all.truncate(query.limit);
        Ok(all)
    }

    fn drop_series(&mut self, span: Span, points: usize) -> Result<DropSeries, HistoryError> {
        let period_ns = period_of(span, points);
        let begin = span.until_ns - span.until_ns % period_ns;
        let point = |reason: &str, ago, packets| DropPoint {
            begin_ns: begin - ago * period_ns,
            reason: reason.to_owned(),
            packets,
        };
        Ok(DropSeries {
            period_ns,
            points: vec![
                point("QDISC_DROP", 3, 100),
                point("SOCKET_RCVBUFF", 3, 20),
                point("QDISC_DROP", 1, 86),
            ],
        })
    }

    fn connections(
        &mut self,
        query: &ConnectionQuery,
        span: Span,
    ) -> Result<Vec<ConnectionFigures>, HistoryError> {
        if self.nodes == 0 {
            return Ok(Vec::new());
        }
        let mut all = report_samples::known_connections();
        for one in &mut all {
            one.connection.sample.time_ns = span.until_ns - SECOND;
        }
        all.retain(|one| {
            query
                .limited
                .is_none_or(|limit| limit == one.connection.limited)
        });
        all.truncate(query.limit);
        Ok(all)
    }

    fn hops(
        &mut self,
        query: &PassageQuery,
        span: Span,
    ) -> Result<Vec<ForwardedFlow>, HistoryError> {
        let mut all = match self.nodes {
            0 => Vec::new(),
            _ => report_samples::forwarded_flows(span.until_ns - SECOND),
        };
        all.truncate(query.limit);
        Ok(all)
    }

    fn passages(
        &mut self,
        query: &PassageQuery,
        _span: Span,
    ) -> Result<Vec<PassageFigures>, HistoryError> {
        let mut all = match (self.nodes, query.flow) {
            (0, _) | (_, Some(_)) => Vec::new(),
            _ => report_samples::passages(),
        };
        all.retain(|one| query.node.is_none_or(|node| node == one.node));
        all.truncate(query.limit);
        Ok(all)
    }

    fn queues(
        &mut self,
        query: &EpisodeQuery,
        span: Span,
    ) -> Result<Vec<ReportedEpisode>, HistoryError> {
        let mut all = match self.nodes {
            0 => Vec::new(),
            _ => report_samples::reported_episodes(span.until_ns - SECOND),
        };
        all.truncate(query.limit);
        Ok(all)
    }

    fn tcp_sums(
        &mut self,
        by: TcpGrouping,
        _node: Option<NodeId>,
        _span: Span,
    ) -> Result<Vec<TcpSums>, HistoryError> {
        Ok(match self.nodes {
            0 => Vec::new(),
            _ => report_samples::tcp_sums(by),
        })
    }

    fn tcp_hops(&mut self, _node: Option<NodeId>, _span: Span) -> Result<TcpHops, HistoryError> {
        Ok(match self.nodes {
            0 => TcpHops::default(),
            _ => report_samples::tcp_hops(),
        })
    }

    fn limit_series(
        &mut self,
        _node: Option<NodeId>,
        span: Span,
        points: usize,
    ) -> Result<LimitSeries, HistoryError> {
        let period_ns = period_of(span, points);
        let begin = span.until_ns - span.until_ns % period_ns;
        let point = |limited, ago, us| LimitPoint {
            begin_ns: begin - ago * period_ns,
            limited,
            us,
        };
        Ok(LimitSeries {
            period_ns,
            points: vec![
                point(Limit::Path, 3, 9_000_000),
                point(Limit::Receiver, 3, 1_000_000),
                point(Limit::Application, 1, 10_000_000),
            ],
        })
    }

    fn connection_series(
        &mut self,
        _flow: i64,
        span: Span,
        points: usize,
    ) -> Result<ConnectionSeries, HistoryError> {
        let period_ns = period_of(span, points);
        let begin = span.until_ns - span.until_ns % period_ns;
        let point = |ago: u64| ConnectionPoint {
            begin_ns: begin - ago * period_ns,
            node: NodeId(1),
            id: 1,
            limited: if ago > 2 {
                Limit::Path
            } else {
                Limit::Receiver
            },
            srtt_us: Some(300 + 20 * ago as u32),
            min_rtt_us: Some(250),
            cwnd_segments: 10 + ago as u32,
            delivery_rate_bytes_s: Some(1_000_000),
            counts: ConnectionCounts {
                retransmitted_segments: ago % 3,
                bytes_acked: 1_000_000,
                ..ConnectionCounts::default()
            },
        };
        let mut points = vec![ConnectionPoint {
            srtt_us: None,
            min_rtt_us: None,
            delivery_rate_bytes_s: None,
            ..point(9)
        }];
        points.extend((1..9).rev().map(point));
        Ok(ConnectionSeries { period_ns, points })
    }
}
