//! The way from a sink event to a datagram at the right collector.

mod builder;
mod clock_news;
mod emitter;
mod groups;
mod pipeline;
mod sizing;
mod spread;
