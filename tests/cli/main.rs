//! The command line: help, messages, exit codes, manual pages, and what goes to standard output or standard error.

mod completions;
mod demo;
mod demos;
mod examples;
mod given_out;
mod help;
mod history_url;
mod manpages;
mod page_options;
mod root;
mod words;
