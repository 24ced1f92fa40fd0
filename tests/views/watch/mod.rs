//! `hostint status --watch` without a terminal: looks and keys go in, screens come out.

mod figures;
pub mod host;
mod keys;
mod paths;
mod screens;
