//! Values without input or output: prefixes, classes, histograms, tallies.

mod beside_int;
mod classes;
mod crossing_tally;
mod histogram;
mod limited;
mod loss_split;
mod missed_tally;
mod prefix;
mod shown_figures;
mod tally;
mod tally_size;
mod tcp_option;
