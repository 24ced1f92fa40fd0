//! The local socket's questions and answers, and who may ask what.

mod message;
mod rights;

pub use message::{Answer, BadRequest, CONTROL_SCHEMA, Form, LONGEST_REQUEST, Query, Request};
pub use rights::{Peer, Refusal, Rights};
