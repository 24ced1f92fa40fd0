//! The way from a sink event to a datagram at the right collector.

mod builder;
mod clock_news;
mod emitter;
mod groups;
mod liveness;
mod numbers;
mod packet_senders;
mod pipeline;
mod rendezvous;
mod sizing;
mod spread;
