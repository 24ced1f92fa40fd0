//! The headings under which help lists settings.

pub const ESSENTIALS: &str = "Essentials";
pub const MEASURING: &str = "Measuring";
pub const TAGGING: &str = "Tagging";
pub const WIRE_FORMAT: &str = "Wire format";
pub const REPORTS: &str = "Reports";
pub const OUTPUT: &str = "Output";
pub const TRUST: &str = "Trust";
pub const LIMITS: &str = "Limits";
pub const STATUS: &str = "Status and metrics";
pub const HISTORY: &str = "History";
pub const ENGINES: &str = "Engines";
