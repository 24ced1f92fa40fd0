//! The collector: its sockets, exporters, probes and captures, and the file of lines that it writes.

mod captured_options;
mod captures;
mod clock_nodes;
mod clocks;
mod coverage;
mod crossings;
mod exporters;
mod host_connections;
mod host_drops;
mod host_hops;
mod host_queues;
mod identities;
mod increments;
mod listener;
mod mx_join;
mod option_hops;
mod output;
mod overload;
mod path_history;
mod paths;
mod probes;
mod read_reports;
mod reverse_names;
mod tagged_balance;
mod waiting;
