//! hostint: in-band one-way latency and loss of production flows between Linux hosts.

pub mod cli;
pub mod collector;
pub mod commands;
pub mod config;
pub mod control;
pub mod daemon;
pub mod datapath;
pub mod engines;
pub mod host;
pub mod lease;
pub mod model;
pub mod os;
pub mod report;
pub mod store;
pub mod views;
pub mod web;
pub mod wire;
