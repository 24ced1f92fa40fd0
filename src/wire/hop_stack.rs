//! The stack behind an INT header: the metadata of its hops.

use super::cursor::Cursor;
use super::metadata_items::{self, ItemLayout, words_of};
use crate::model::IntHeader;

/// Reads as much of the stack as there is: whole hops, then words that only the source wrote.
pub(super) fn read_stack(
    header: &mut IntHeader,
    layout: &ItemLayout,
    bytes: &[u8],
    hop_words: usize,
    stack_words: usize,
    source_words: bool,
) {
    let stack = bytes.get(..4 * stack_words).unwrap_or(bytes);
    header.truncated = stack.len() < 4 * stack_words;
    let domain_words = hop_words.saturating_sub(words_of(layout, header.instructions));
    let mut cursor = Cursor::new(stack);
    let hops = stack_words.checked_div(hop_words).unwrap_or(0);
    for _ in 0..hops {
        let hop = metadata_items::decode(
            &mut cursor,
            layout,
            header.instructions,
            domain_words,
            false,
        );
        match hop {
            Ok(hop) => header.hops.push(hop),
            Err(_) => return,
        }
    }
    while source_words && let Ok(word) = cursor.u32("") {
        header.source_words.push(word);
    }
}
