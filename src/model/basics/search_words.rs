//! Words that all have to be in a text: how flows are searched for everywhere.

use std::convert::Infallible;
use std::str::FromStr;

/// The words, in lower case. None fit every text.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SearchWords(Vec<String>);

impl SearchWords {
    pub fn new(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_lowercase).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a text in lower case has all words.
    pub fn fit(&self, text: &str) -> bool {
        self.0.iter().all(|word| text.contains(&**word))
    }
}

impl FromStr for SearchWords {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::new(text))
    }
}
