//! Bars of characters: figures over time, and shares of a whole.

use super::appearance::Appearance;

const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII: [char; 9] = [' ', '.', '.', ':', ':', '+', '+', '#', '#'];
/// The eighths of a block from left to right.
const LYING: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// Vertical bars, one for each figure, in lines from top to bottom. An unknown figure is a dot at the bottom.
pub fn standing(
    look: Appearance,
    figures: &[Option<f64>],
    most: f64,
    height: usize,
) -> Vec<String> {
    let steps = if look.unicode { EIGHTHS } else { ASCII };
    let unknown = if look.unicode { '·' } else { '-' };
    let eighths = |figure: f64| -> usize {
        if most <= 0.0 || figure <= 0.0 {
            return 0;
        }
        // The smallest figure stays visible.
        ((figure / most * height as f64 * 8.0).round() as usize).clamp(1, height * 8)
    };
    (0..height)
        .rev()
        .map(|level| {
            figures
                .iter()
                .map(|figure| match figure {
                    Some(figure) => steps[eighths(*figure).saturating_sub(level * 8).min(8)],
                    None if level == 0 => unknown,
                    None => ' ',
                })
                .collect()
        })
        .collect()
}

/// A horizontal bar of at most `width` characters.
pub fn lying(look: Appearance, share: f64, width: usize) -> String {
    let eighths = (share * width as f64 * 8.0).round() as usize;
    let eighths = eighths.max(usize::from(share > 0.0)).min(width * 8);
    if !look.unicode {
        return "#".repeat(eighths.div_ceil(8));
    }
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(LYING[eighths % 8]);
    }
    bar
}
