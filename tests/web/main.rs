//! The collector's HTTP server and its page.

mod clients;
mod events;
mod many_hosts;
mod page;
