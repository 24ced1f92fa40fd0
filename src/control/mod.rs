//! The control socket: its path, its requests and answers, and the places and rights of its clients.

mod client_places;
mod deadline;
mod message;
mod place;
mod rights;

pub use client_places::{ClientPlace, ClientPlaces, NoPlace};
pub use deadline::DeadlineStream;
pub use message::{
    BadRequest, CONTROL_SCHEMA, ControlAnswer, Form, LONGEST_REQUEST, Query, Request,
};
pub use place::{FOLDERS, UnpinnedRole, role_socket_path, socket_path};
pub use rights::{Caller, NotAllowed, Rights};
