//! Flags and config file as typed, validated values.

mod choice;
mod drop_reasons;
mod duration;
mod key;
mod mark;
mod sink;
mod sink_options;
mod source;

pub use choice::{Compat, SinkHook, Superpackets};
pub use drop_reasons::drop_reasons;
pub use duration::Span;
pub use key::read_key;
pub use mark::{BadMark, DscpMark};
pub use sink::{ConfigError, SinkConfig};
pub use sink_options::{LogFormatName, SinkOptions, XdpMode, load_file};
pub use source::{SourceConfig, SourceHook, SourceOptions};

/// The UDP port that announces extension-udp unless configured otherwise, as in Host-INT.
pub const EXTENSION_PORT: u16 = 33122;
