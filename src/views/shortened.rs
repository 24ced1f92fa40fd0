//! Texts that are fitted to a width.

/// The text, with its middle left out if it is longer than `width`, because both ends of names and flows matter.
pub fn shortened(text: &str, width: usize, dots: &str) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(dots.chars().count());
    let front = kept.div_ceil(2);
    let back = kept - front;
    let front: String = text.chars().take(front).collect();
    let back: String = text.chars().skip(length - back).collect();
    format!("{front}{dots}{back}")
}

/// Lines of at most `width` characters, broken between words if possible.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else {
            continue;
        };
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
