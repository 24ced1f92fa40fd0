//! The real binary on real traffic between network namespaces.

#[allow(dead_code)] // other tests use the rest
#[path = "../support/dashboards.rs"]
mod dashboards;
mod exchange;
mod foreign;
#[path = "../support/line.rs"]
mod line;
#[allow(dead_code)] // other tests use the rest
#[path = "../support/load.rs"]
mod load;
mod name_server;
#[allow(dead_code)] // other tests use the rest
#[path = "../support/netns.rs"]
mod netns;
#[allow(dead_code)] // other tests use the rest
#[path = "../support/shape.rs"]
mod shape;
mod stamped;

mod root {
    mod coexistence;
    mod control;
    mod dashboards;
    mod field;
    mod gro;
    mod lease_refusals;
    mod leases;
    mod lifecycle;
    mod loss;
    mod metrics;
    mod names;
    mod offloads;
    mod options;
    mod peer;
    mod preflight;
    mod privileges;
    mod reload;
    mod repairs;
    mod report_formats;
    mod reports;
    mod rotation;
    mod schemas;
    mod spread;
    mod stage;
    mod summaries;
    mod superpackets;
    mod traffic;
    mod trust;
    mod watch;
    mod watchlist;
}
