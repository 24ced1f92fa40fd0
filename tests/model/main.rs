//! Values without input or output: prefixes, classes, histograms.

mod classes;
mod histogram;
mod prefix;
