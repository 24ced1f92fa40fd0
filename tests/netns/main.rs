//! The real binary with real traffic between network namespaces.

mod endurance;
mod exchange;
mod foreign;
mod name_server;
mod stamped;

mod root {
    mod astray;
    mod bpf_file_system;
    mod clocks;
    mod coexistence;
    mod control;
    mod coverage;
    mod dashboards;
    mod drops;
    mod drops_told;
    mod field;
    mod figures;
    mod fine_slots;
    mod gro;
    mod guard;
    mod hooks;
    mod lease_refusals;
    mod leases;
    mod lifecycle;
    mod log_levels;
    mod loss;
    mod loss_split;
    mod metrics;
    mod names;
    mod narrow;
    mod networks;
    mod offloads;
    mod options;
    mod paths;
    mod peer;
    mod preflight;
    mod privileges;
    mod reload;
    mod repairs;
    mod report_formats;
    mod reports;
    mod rotation;
    mod schemas;
    mod source_alone;
    mod spread;
    mod stage;
    mod summaries;
    mod superpackets;
    mod traffic;
    mod transit;
    mod trust;
    mod watch;
    mod watchlist;
}
