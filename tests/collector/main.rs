//! The collector's half: sockets, exporters and their losses, probes, captures, and the file of lines.

mod captures;
mod exporters;
mod listener;
mod output;
mod overload;
mod probes;
mod read_reports;
