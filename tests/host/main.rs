//! The host around hostint: interfaces, service manager, journal, control socket; and the duties of its daemons.

mod control;
mod duties;
mod interfaces;
mod preflight;
mod service;
