//! The names under which the kernel half's maps are pinned, and the role that each belongs to.

/// The settings that source and sink share.
pub const HOST_SETTINGS: &str = "host_settings";

/// The names of hosts. The daemon writes it, `hostint status` reads it, no program uses it.
pub const HOST_NAMES: &str = "host_names";

/// Packets that hops may push onto, counted where they come by.
pub const CROSSINGS: &str = "crossings";

pub const SINK_SETTINGS: &str = "sink_settings";
pub const SINK_COUNTERS: &str = "sink_counters";
pub const SINK_FLOWS: &str = "sink_flows";
/// The fine latency slots of flows, and the indices of those that are free.
pub const SINK_FINE_SLOTS: &str = "sink_fine_slots";
pub const SINK_FINE_FREE: &str = "sink_fine_free";
pub const SINK_EVENTS: &str = "sink_events";
/// The prefixes whose packets the sink strips without a lease.
pub const SINK_ALLOW: &str = "sink_allow";
/// The leases that the sink granted.
pub const SINK_GRANTS: &str = "sink_grants";
/// A number that grows with each change of the two maps above.
pub const SINK_GRANTS_SERIAL: &str = "sink_grants_serial";
/// The quickest packets of each source node.
pub const SINK_MINIMA: &str = "sink_minima";
/// The paths over transit hops, and the times of all their packets by segment.
pub const SINK_PATHS: &str = "sink_paths";
pub const SINK_PATH_TIMES: &str = "sink_path_times";
/// Packets that the sink stripped without measuring them: by flow, and by source node where flows find no room.
pub const SINK_UNMEASURED: &str = "sink_unmeasured";
pub const SINK_UNMEASURED_NODES: &str = "sink_unmeasured_nodes";
/// The state of the sink's collectors. The daemon writes it, `hostint status` reads it, no program uses it.
pub const SINK_COLLECTORS: &str = "sink_collectors";
/// Tagged packets on interfaces without a sink.
pub const SINK_ASTRAY_COUNTS: &str = "sink_astray_counts";
/// Until when `hostint tcp` on this host reads and echoes TCP option 114.
pub const SINK_OPTION_114: &str = "sink_option_114";
/// The daemon's own counters.
pub const DAEMON_COUNTERS: &str = "daemon_counters";

pub const SOURCE_COUNTERS: &str = "source_counters";
/// The settings of each attachment of the source.
pub const SOURCE_INFO: &str = "source_info";
pub const SOURCE_FLOWS: &str = "source_flows";
/// The leases that sinks granted to this source.
pub const SOURCE_LEASES: &str = "source_leases";
/// A number that grows whenever a lease is removed or closed.
pub const SOURCE_LEASES_SERIAL: &str = "source_leases_serial";
/// Watched packets that stayed untagged, by pair and class.
pub const SOURCE_MISSED: &str = "source_missed";
/// The ring of flows whose tagged packets may not arrive.
/// The room for INT in the segments of each socket.
pub const OPTION_ROOMS: &str = "option_rooms";
pub const PEER_COUNTERS: &str = "peer_counters";
/// The SYNs whose MSS a peer program lowered.
pub const PEER_SYNS: &str = "peer_syns";

pub const TRANSIT_COUNTERS: &str = "transit_counters";
/// The settings of each attachment of the transit hop.
pub const TRANSIT_INFO: &str = "transit_info";
/// The prefixes of sources whose packets get an entry, where not all do.
pub const TRANSIT_ALLOW: &str = "transit_allow";
/// When packets arrived.
pub const TRANSIT_ARRIVALS: &str = "transit_arrivals";
/// When packets left for the queue of an interface.
pub const TRANSIT_DEPARTURES: &str = "transit_departures";
/// What is filled into TCP option 114, by interface.
pub const TRANSIT_GAUGES: &str = "transit_gauges";
/// The pairs of hosts for which that is done.
pub const TRANSIT_ASKERS: &str = "transit_askers";

/// The ring of packets in INT-MX that hops tell of.
pub const TRANSIT_POSTCARDS: &str = "transit_postcards";

pub const WATCH_STATE: &str = "watch_state";
pub const WATCH_PLACES4: &str = "watch_places4";
pub const WATCH_PLACES6: &str = "watch_places6";
pub const WATCH_NODES: &str = "watch_nodes";
pub const WATCH_EDGES: &str = "watch_edges";
pub const WATCH_CLASSES: &str = "watch_classes";
/// The rules as the user wrote them.
pub const WATCH_TEXTS: &str = "watch_texts";

/// The tables of the watchlist, whose sizes are those that rules need.
pub const WATCH_MAPS: [&str; 7] = [
    WATCH_STATE,
    WATCH_PLACES4,
    WATCH_PLACES6,
    WATCH_NODES,
    WATCH_EDGES,
    WATCH_CLASSES,
    WATCH_TEXTS,
];

/// Counts of former versions, by role and counter.
pub const FORMER_COUNTERS: &str = "counters_before";

/// The maps that all roles share.
pub const HOST_MAPS: [&str; 3] = [HOST_SETTINGS, HOST_NAMES, CROSSINGS];

/// The maps that are removed with the last sink.
pub const SINK_MAPS: [&str; 20] = [
    SINK_SETTINGS,
    SINK_COUNTERS,
    SINK_FLOWS,
    SINK_FINE_SLOTS,
    SINK_FINE_FREE,
    SINK_EVENTS,
    DAEMON_COUNTERS,
    SINK_ALLOW,
    SINK_GRANTS,
    SINK_GRANTS_SERIAL,
    SINK_MINIMA,
    SINK_PATHS,
    SINK_PATH_TIMES,
    SINK_UNMEASURED,
    SINK_UNMEASURED_NODES,
    "sink_buckets",
    "sink_bucket_total",
    SINK_COLLECTORS,
    SINK_ASTRAY_COUNTS,
    SINK_OPTION_114,
];

/// The maps that are removed with the last attachment of the source.
pub const SOURCE_MAPS: [&str; 16] = [
    SOURCE_COUNTERS,
    SOURCE_INFO,
    WATCH_STATE,
    WATCH_PLACES4,
    WATCH_PLACES6,
    WATCH_NODES,
    WATCH_EDGES,
    WATCH_CLASSES,
    WATCH_TEXTS,
    SOURCE_FLOWS,
    SOURCE_LEASES,
    SOURCE_LEASES_SERIAL,
    SOURCE_MISSED,
    OPTION_ROOMS,
    PEER_COUNTERS,
    PEER_SYNS,
];

/// The maps that are removed with the last attachment of the transit hop.
pub const TRANSIT_MAPS: [&str; 8] = [
    TRANSIT_COUNTERS,
    TRANSIT_INFO,
    TRANSIT_ALLOW,
    TRANSIT_ARRIVALS,
    TRANSIT_DEPARTURES,
    TRANSIT_GAUGES,
    TRANSIT_ASKERS,
    TRANSIT_POSTCARDS,
];
