//! The host around hostint: interfaces, preflight findings, control socket, service manager and journal, and the duties
//! of its daemons.

mod agent;
mod clock;
mod containers;
mod control;
mod dns;
mod duties;
mod host_token;
mod interfaces;
mod kernel_files;
mod local_sockets;
mod log;
mod preflight;
mod queue_episodes;
mod recent;
mod service;
mod sink_hook;
mod told_flows;
mod told_passages;
