//! The config file, environment variables and flags: their meaning, their order, and every mistake in them.

mod deployed;
mod engines;
mod environment;
mod file;
mod mutated;
mod push_headers;
mod queues;
mod shipped;
