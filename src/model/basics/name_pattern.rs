//! Patterns of interface names, such as `veth*`.

/// The word for the interfaces by which default routes leave.
pub const DEFAULT_ROUTE: &str = "default-route";

/// True if this word of a flag or file stands for the interface of this name, as far as the word alone tells: which interfaces
/// default routes leave by depends on the host.
pub fn may_stand_for(word: &str, name: &str) -> bool {
    word == name || word == DEFAULT_ROUTE || is_pattern(word) && covers(word, name)
}

/// True if the text names more than one interface.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// True if the pattern covers the whole name: `*` stands for any characters, `?` for one, and others for themselves.
pub fn covers(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    // Where the last star stands, and the part of the name that is left to those behind it.
    let mut star: Option<(usize, usize)> = None;
    let (mut at, mut done) = (0, 0);
    while done < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, done));
                at += 1;
            }
            Some(one) if *one == '?' || *one == name[done] => {
                at += 1;
                done += 1;
            }
            _ => {
                let Some((star_at, from)) = star else {
                    return false;
                };
                star = Some((star_at, from + 1));
                at = star_at + 1;
                done = from + 1;
            }
        }
    }
    pattern[at..].iter().all(|one| *one == '*')
}
