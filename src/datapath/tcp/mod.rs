//! TCP connections of this host, and TCP option 114.

pub mod option_114;
pub mod option_hops;
pub mod option_room;
pub mod programs;
mod tcp_record;
