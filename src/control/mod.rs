//! The control socket: its place, its requests and answers, and the rights of its clients.

mod deadline;
mod message;
mod place;
mod rights;

pub use deadline::DeadlineStream;
pub use message::{
    BadRequest, CONTROL_SCHEMA, ControlAnswer, Form, LONGEST_REQUEST, Query, Request,
};
pub use place::socket_path;
pub use rights::{Caller, NotAllowed, Rights};
