//! The protocol of the control socket: its requests and answers, and the rights of its clients.

mod message;
mod rights;

pub use message::{
    BadRequest, CONTROL_SCHEMA, ControlAnswer, Form, LONGEST_REQUEST, Query, Request,
};
pub use rights::{Caller, NotAllowed, Rights};
