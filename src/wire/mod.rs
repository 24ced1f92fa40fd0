//! Bytes to model values and back: total over untrusted input, without I/O.

mod cursor;
mod error;
pub mod int_v05;
pub mod lease;
mod report_extended;
mod report_hostint;
pub mod report_v05;

pub use error::{DecodeError, DecodeErrorKind};
