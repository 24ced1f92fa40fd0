//! The nouns of hostint: pure values, without I/O and without clocks.

mod answer;
mod arrival;
mod batch;
mod capabilities;
mod captured_option;
mod classes;
mod clock;
pub mod clock_evidence;
mod clock_status;
mod clock_steering;
mod clock_sums;
mod collect_status;
mod collector_state;
pub mod container;
mod corrected_latency;
pub mod coverage;
pub mod crossing_tally;
pub mod crossings;
mod dest;
pub mod drop_codes;
mod drop_reasons;
pub mod drop_totals_report;
mod encapsulation;
mod engine_status;
mod extent;
mod flow;
mod flow_growth;
mod flow_hash;
mod flow_passage;
mod flow_slots;
mod group_totals;
mod headers;
mod hex;
mod history;
mod history_drops;
mod history_passages;
mod history_queues;
mod history_reader;
mod history_tcp;
mod history_tcp_hops;
mod hop;
mod hop_queue;
mod hop_record;
mod host_drop;
pub mod host_names;
mod host_passage;
mod host_queue;
mod host_status;
pub mod hosts;
mod int_header;
mod interned_name;
mod kernel_part;
mod kernel_parts;
mod known_path;
mod latency_code;
mod latency_histogram;
mod latency_resolution;
mod lease;
mod lease_messages;
mod lease_probe;
mod limited;
mod limited_times;
mod machine_id;
mod measured;
mod metadata;
pub mod metrics;
pub mod missed_tally;
mod mx_notice;
mod mx_pairs;
pub mod name_pattern;
mod node;
pub mod node_identity;
mod node_names;
pub mod number_code;
mod number_hash;
pub mod option_hops;
mod packet;
mod packet_pods;
mod packet_report;
mod pair_traffic;
mod path;
mod path_figures;
mod path_part;
mod path_state;
mod path_status;
mod path_totals;
mod path_within;
mod plain_error;
mod port_names;
mod postcards_status;
mod prefix;
pub mod preflight;
mod question;
mod queue_episode;
mod queue_rule;
mod quirk;
mod reason;
mod recent_counts;
mod record;
mod record_names;
mod record_parser;
mod report;
mod report_facts;
mod reported_totals;
mod sample_log;
mod sink_event;
mod sink_settings;
mod subsystem;
mod summary;
mod summary_base;
mod summary_budget;
mod tally;
mod tcp_beside_int;
mod tcp_option;
mod tcp_question;
mod tcp_sample;
mod tcp_status;
mod tcp_totals;
mod time_columns;
mod time_words;
mod transit_status;
mod tunnel;
mod tunnel_obstacle;
mod volume;
mod wall_time;
mod watch;
mod ways;
mod wide_slots;

pub use answer::Answer;
pub use arrival::Arrival;
pub use batch::is_whole_batch;
pub use capabilities::{Capabilities, MOST_TRANSIT_HOPS};
pub use captured_option::{CapturedConnection, CapturedHop};
pub use classes::{Classes, Classifier, class_number};
pub use clock::{ClockSource, ClockState};
pub use clock_evidence::{ClockEvidence, ClockReading, LeaseExchange, PeerEvidence, QuickPacket};
pub use clock_status::ClockStatus;
pub use clock_steering::ClockSteering;
pub use clock_sums::{ClockSums, CorrectedMean};
pub use collect_status::{COLLECT_SCHEMA, CollectStatus, ExporterHealth, NameOrigin};
pub use collector_state::CollectorState;
pub use corrected_latency::{CorrectedLatency, LatencyClocks};
pub use dest::Dest;
pub use drop_reasons::DropReasons;
pub use drop_totals_report::{DropSubject, DropSum, DropTotalsReport, HostDropRow, HostDropSum};
pub use encapsulation::{Encapsulation, UnknownEncapsulation};
pub use engine_status::{EngineStatus, EngineUnit};
pub use extent::Extent;
pub use flow::{FlowKey, Transport, Vlans};
pub use flow_growth::FlowCounts;
pub use flow_hash::FlowHash;
pub use flow_passage::{
    FlowPassage, FlowPassageId, FlowPassageReport, InterfacePassage, PassageReason, PassageStart,
    PassageTimes, PassageTotals, SOCKETS_IFINDEX, SOCKETS_NAME, SOCKETS_PORT,
};
pub use flow_slots::{FINE_SLOTS, FlowSlots, LATENCY_SLOTS, latency_of, power_of};
pub use group_totals::{GroupTotals, TOTALS_TOLD};
pub use headers::{BadHeaders, QuotedHeaders};
pub use history::{
    ClassFigures, Figures, FlowFigures, FlowOrder, FlowQuery, LEAST_SAMPLES, LatencyFigures,
    MatrixFigure, MeasuredFigures, PairFigures, Point, ReportQuery, Series, ShownFigures, Span,
    Subject,
};
pub use history_drops::{
    DropFigures, DropGrouping, DropPoint, DropQuery, DropSeries, LossAt, LossByHost, LossSplit,
    PairDrops,
};
pub use history_passages::{ForwardedFlow, PassageOrder, PassageQuery};
pub use history_queues::{EpisodeOrder, EpisodeQuery, ReportedEpisode};
pub use history_reader::{History, HistoryError};
pub use history_tcp::{
    CONNECTION_SILENT_NS, ConnectionCounts, ConnectionFigures, ConnectionOrder, ConnectionPoint,
    ConnectionQuery, ConnectionSeries, ConnectionState, HostTcpRow, LimitPoint, LimitSeries,
    TcpGrouping, TcpGrowth, TcpSums,
};
pub use history_tcp_hops::{TcpHop, TcpHops};
pub use hop::{Hop, HopStack};
pub use hop_queue::{HopQueue, HopQueueFigures};
pub use hop_record::HopRecord;
pub use host_drop::{
    DropCount, DropId, DropPosition, DropTotals, DroppedInt, DropsWithoutPacket, HostDrop,
    HostDropReport, KernelReason, PlaceDrops, ReasonDrops,
};
pub use host_names::{ClaimOrigin, HostName, NameClaim};
pub use host_passage::{PassageFigures, PassageId, QUEUED_PLACE, SENT_PLACE};
pub use host_queue::{EpisodeCounts, HostQueueRow};
pub use host_status::{
    ArrivedProbes, AstrayStatus, Attachment, CollectorStatus, CounterStatus, DaemonCounter,
    DestStatus, FlowSort, FlowStatus, GrantStatus, HostStatus, PeerStatus, STATUS_SCHEMA,
    SinkStatus, SourceStatus, StrippedPackets,
};
pub use hosts::{HostSeen, HostsReporting, SilentHost};
pub use int_header::{IntDomain, IntHeader, IntType, IntVersion};
pub use kernel_part::{KERNEL_PARTS, KernelPart, PartFacts, Without};
pub use kernel_parts::{KernelLack, KernelParts, PartsFound};
pub use known_path::{KnownPath, PathKey};
pub use latency_code::BadHistogram;
pub use latency_histogram::{LatencyHistogram, SlotRange};
pub use latency_resolution::LatencyResolution;
pub use lease::{
    AddressPair, Encapsulations, Lease, LeaseAnswer, LeaseCounts, LeaseKey, LeaseState, Marks,
    SinkClock,
};
pub use lease_messages::{
    FullAnswer, FullEcho, FullQuestion, LeaseWitness, ShortEcho, ShortQuestion,
};
pub use lease_probe::{LeaseProbe, ProbeForm};
pub use limited::{Limit, TcpInterval};
pub use limited_times::LimitedTimes;
pub use machine_id::{MachineId, NoMachineId};
pub use measured::Measured;
pub use metadata::{Metadata, ReservedWord};
pub use mx_notice::MxNotice;
pub use mx_pairs::{MxMissingHop, MxPairRow};
pub use node::{HostNode, NodeId, NodeOrigin};
pub use node_identity::NodeIdentity;
pub use node_names::{NodeNames, NodeText, RecordName};
pub use number_hash::{NumberHash, SeededHash};
pub use packet::{FirstHeader, Packet};
pub use packet_pods::PacketPods;
pub use packet_report::{Extension, PacketReport, ReportDomain, ReportVersion};
pub use pair_traffic::{CorrectedTraffic, MOST_METRIC_CLASSES, MOST_METRIC_PAIRS, PairTraffic};
pub use path::{
    NodePort, PassedPath, Path, PathHop, PathSample, Segment, SegmentKind, SegmentTime,
};
pub use path_figures::{
    PathFigures, PathQuery, SegmentFigures, SegmentLoss, SegmentOrder, SegmentTally, SegmentTimes,
    TailShares, set_lacking, tail_shares,
};
pub use path_part::{PathFact, PathPart, PathPartRecord};
pub use path_state::PathState;
pub use path_status::PathStatus;
pub use path_totals::{PathGrowth, PathTotals, PathTotalsReport, PlaceGrowth, PlaceTotals};
pub use path_within::{BUFFER_PLACE, QUEUE_PLACE, WITHIN_PLACE};
pub use plain_error::PlainError;
pub use port_names::{PortNames, RecordPort, port_names};
pub use postcards_status::{DropsStatus, HopsStatus, PostcardsStatus, QueuesStatus};
pub use prefix::{BadPrefix, Prefix};
pub use question::Question;
pub use queue_episode::{
    EpisodeId, MOST_QUEUE_FLOWS, QueueEpisode, QueueFigures, QueueFlow, QueuePacket, QueueReport,
    QueueTotals,
};
pub use queue_rule::{QueueLimits, QueueMeasure, QueueRule};
pub use quirk::Quirk;
pub use reason::{Reason, ReasonSeverity, ReasonTopic};
pub use recent_counts::RecentCounts;
pub use record::{EndRecord, FlagsRecord, GapRecord, RECORD_SCHEMA, Record};
pub use record_parser::BadRecord;
pub use report::{
    Body, DropSummary, Flags, LatencyReport, Observation, QueueDepth, REPORT_PORT, Report,
    ReportedPacket,
};
pub use report_facts::{ReportFacts, SequenceEvidence};
pub use reported_totals::ReportedTotals;
pub use sample_log::{LoggedSample, SampleLog};
pub use sink_event::{LatencyEvent, LossEvent, Reasons, SinkEvent};
pub use sink_settings::{BucketEdge, SinkSettings};
pub use subsystem::{HwId, Subsystem};
pub use summary::{
    DistributionRecord, MOST_CLASS_BYTES, SubjectTotals, Summary, SummaryEvent, SummaryRecord,
    SummarySubject,
};
pub use summary_base::{SummaryBase, SummaryBases, SummaryName};
pub use summary_budget::SummaryBudget;
pub use tally::{MOST_CLASSES, MOST_GROUPS, MOST_NODES, Tally, TallyNews, Traffic};
pub use tcp_beside_int::{BesideInt, BesideIntUnknown, IntOfConnection, WITHOUT_SOCKET};
pub use tcp_option::{
    OptionCounts, OptionFigures, OptionOff, QUEUE_STEP_BYTES, WorstHop, WorstSample, link_code,
};
pub use tcp_question::TcpQuestion;
pub use tcp_sample::{CongestionControl, CongestionPhase, HeldUp, TcpFigures, TcpPhase, TcpSample};
pub use tcp_status::TcpStatus;
pub use tcp_totals::{ConnectionReport, LimitedCount, TcpNews, TcpReport, TcpTotals};
pub use time_columns::TimeColumns;
pub use time_words::TimeWords;
pub use transit_status::{TransitInterface, TransitStatus};
pub use tunnel::{Tunnel, TunnelId, TunnelKind};
pub use tunnel_obstacle::TunnelObstacle;
pub use volume::Volume;
pub use wall_time::WallTime;
pub use watch::{
    BadPortRange, DEFAULT_PRIORITY, PortRange, RuleHost, WatchAction, WatchPurpose, WatchRule,
};
pub use ways::{PathProof, ProbeForms, Ways};
pub use wide_slots::WideSlots;
