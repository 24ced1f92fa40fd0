//! Flags and config file as typed, validated values.

mod choice;
mod duration;
mod mark;
mod sink;
mod source;

pub use choice::{Compat, SinkHook, Superpackets};
pub use duration::Span;
pub use mark::{BadMark, DscpMark};
pub use sink::{ConfigError, LogFormatName, SinkConfig, SinkOptions, XdpMode, load_file};
pub use source::{SourceConfig, SourceHook, SourceOptions};

/// The UDP port that announces extension-udp unless configured otherwise, as in Host-INT.
pub const EXTENSION_PORT: u16 = 33122;
