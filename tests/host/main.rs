//! The host around hostint: interfaces, service manager, journal, control socket.

mod control;
mod interfaces;
mod preflight;
mod service;
