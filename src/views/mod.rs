//! From reports to something to look at.

pub mod text;
