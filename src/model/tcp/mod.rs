//! TCP connections: what limits them, and what option 114 tells.

mod captured_option;
mod limited;
mod limited_times;
pub mod option_hops;
mod tcp_beside_int;
mod tcp_option;
mod tcp_sample;
mod tcp_totals;

pub use captured_option::{CapturedConnection, CapturedHop};
pub use limited::{Limit, TcpInterval};
pub use limited_times::LimitedTimes;
pub use tcp_beside_int::{BesideInt, BesideIntUnknown, IntOfConnection, WITHOUT_SOCKET};
pub use tcp_option::{
    OptionCounts, OptionFigures, OptionOff, QUEUE_STEP_BYTES, WorstHop, WorstSample, link_code,
};
pub use tcp_sample::{CongestionControl, CongestionPhase, HeldUp, TcpFigures, TcpPhase, TcpSample};
pub use tcp_totals::{ConnectionReport, LimitedCount, TcpNews, TcpReport, TcpTotals};
