//! hostint: in-band one-way latency and loss of production flows between Linux hosts.
//!
//! The kernel half is in src/bpf, the formats on the wire and between the halves are in include/hostint. This library
//! is the user half, and src/main.rs calls it.
//!
//! # The way of the data
//!
//! ```text
//!                 config ─► daemon ─► datapath ─► maps ──────────────┐
//!                                                                    ▼
//! application ─► src/bpf/source.bpf.c ═ INT on the wire ═► src/bpf/sink.bpf.c ─► application
//!                (watchlist, leases,      packet + INT     (strips, numbers,
//!                 numbers, stamps)                          measures)
//!                                                                    │ ring of events
//!                                        datapath::sink ◄────────────┘
//!                                               │ model::SinkEvent
//!                                        report::Builder
//!                                               │ model::Observation
//!                                        report::Emitter ── wire::report ──► UDP
//!                                                                             │ bytes
//!                                                           collector::Reception (threads, queue)
//!                                                                             │
//!                                              collector::ReportHub (wire::report, exporters, increments, classes)
//!                                                                             │ ReceivedReport
//!                                             ┌──────────────────┬────────────┴────┐
//!                                    daemon::collect lines   store (history)   engines
//!                                                                │
//!                                             web (page, API) ◄──┴──► commands::history ─► views
//! ```
//!
//! Two borders are guarded: bytes of the kernel become model values in `datapath` only, and bytes of the network in
//! `wire` only. What `report::Builder` makes and what the collector decodes is one type, so `decode(emit(report))` is
//! the report again.
//!
//! # Where to look
//!
//! | to… | look at |
//! |---|---|
//! | add a counter of packets | include/hostint/count.h, the header of src/bpf that counts, `datapath::host::counters` |
//! | change when a report is sent | src/bpf/sink/flow_update.h, `report::Builder` |
//! | add something that a daemon does | `daemon`: a duty is a file, and a line in a list |
//! | change how hosts' clocks are compared | `clocks`: evidence, intervals, estimates |
//! | change the words for a drop's reason | `model::postcards::drop_reasons`; the codes of the kernel's are in `drop_codes` |
//! | change when a lease, or a form, is given up | `lease::evidence` has the table, a file beside it each rule |
//! | add a column of ClickHouse | `engines::clickhouse::columns` |
//! | change how a cause of loss or delay is found | `verdict`; its words are in `views::verdict` |
//! | change what the page says | src/web/assets, a script for each part of the page |
//! | add an engine | `engines`, `daemon::collect`, `config` |
//! | find why a packet went untagged | src/bpf/source.bpf.c, from its top; `views` words the counters |
//!
//! CONTRIBUTING.md has the longer lists, and tests/architecture the walls between the rooms.

/// The command line, from which help, man pages and completions are made.
pub mod cli;
/// Clocks of hosts: intervals that hold, and estimates, from stamps of both directions.
pub mod clocks;
#[cfg(feature = "http-client")]
/// The API server of a Kubernetes cluster: its pods listed and watched, for their names.
pub mod cluster;
/// Reports received: sockets, a queue, the hub that decodes and accounts them, captures.
pub mod collector;
/// The subcommands, a file each: arguments, one call, what is printed, exit code.
pub mod commands;
/// Flags, environment and config file as typed, checked settings; every mistake with its line.
pub mod config;
/// The local socket: questions, answers, and who may ask.
pub mod control;
/// The daemons: sink, source, postcards, TCP connections and collector, each a data path and a list of duties.
pub mod daemon;
/// The kernel half from outside: programs loaded and attached, maps read and written. Only this room knows libbpf.
pub mod datapath;
/// A look at hostint on one machine: a small network of its own, or a recorded one.
pub mod demo;
/// The engines that a collector hands reports on to: Kafka, ClickHouse, IPFIX, OTLP; and pushed metrics.
pub mod engines;
/// The sink and the source of this host, read or asked for, changed, and explained.
pub mod host;
/// Leases: which destinations have a sink that strips, asked again and again.
pub mod lease;
/// The nouns: values without I/O, bytes or clocks.
pub mod model;
/// The operating system: clocks, privileges, signals, logs, sockets, names. Unsafe code is here and in `datapath`.
pub mod os;
/// Reports sent: built from events, numbered, spread over collectors, written to a log.
pub mod report;
/// The history of a collector: one SQLite file of single reports and roll-ups.
pub mod store;
/// Whether loss or delay is the network's, where, and since when: slots of ten seconds in, a verdict out.
pub mod verdict;
/// Text, tables, screens and metrics made of values.
pub mod views;
/// HTTP: the page, its API, metrics and health. Only this room knows axum.
pub mod web;
/// Bytes of the wire, to and from values: INT headers, telemetry reports, leases.
pub mod wire;
