//! The collector's HTTP server and its page.

mod by_wire;
mod clients;
mod events;
mod many_hosts;
mod page;
