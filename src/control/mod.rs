//! The protocol of the control socket: its requests and answers, and the rights of its clients.

mod message;
mod rights;

pub use message::{Answer, BadRequest, CONTROL_SCHEMA, Form, LONGEST_REQUEST, Query, Request};
pub use rights::{Peer, Refusal, Rights};
