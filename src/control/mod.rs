//! The local control socket: where it is, its questions and answers, and who may ask for what.

mod deadline;
mod message;
mod place;
mod rights;

pub use deadline::DeadlineStream;
pub use message::{Answer, BadRequest, CONTROL_SCHEMA, Form, LONGEST_REQUEST, Query, Request};
pub use place::socket_path;
pub use rights::{Peer, Refusal, Rights};
