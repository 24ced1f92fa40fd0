//! How much of an answer is asked for.

use clap::ValueEnum;

/// The whole of it, or what the page shows.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(super) enum AnswerForm {
    #[default]
    Whole,
    Short,
}
