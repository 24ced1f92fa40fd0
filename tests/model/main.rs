//! Values without input or output: prefixes, classes, histograms, tallies.

mod beside_int;
mod classes;
mod container;
mod crossing_tally;
mod flow_hash;
mod guest_path;
mod histogram;
mod host_names;
mod limited;
mod loss_of_all;
mod loss_split;
mod machine_id;
mod missed_tally;
mod name_pattern;
mod pods;
mod prefix;
mod sample_log;
mod share;
mod shown_figures;
mod tally;
mod tally_size;
mod tcp_option;
