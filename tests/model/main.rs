//! Values without input or output: prefixes, classes, histograms, tallies.

mod classes;
mod histogram;
mod prefix;
mod tally;
mod tally_size;
