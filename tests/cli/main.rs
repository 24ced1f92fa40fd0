//! The command line as users meet it: help, messages, exit codes, manual pages, and which stream gets what.

mod help;
mod manpages;
mod root;
mod words;
