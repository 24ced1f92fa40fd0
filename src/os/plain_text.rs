//! Messages as people read them.

/// A text without the numbers of the system's errors, which say no more than the words before them.
pub fn without_numbers(text: String) -> String {
    const BEGIN: &str = " (os error ";
    let mut plain = text;
    let mut from = 0;
    while let Some(at) = plain[from..].find(BEGIN).map(|at| at + from) {
        let number = &plain[at + BEGIN.len()..];
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        match number[digits..].starts_with(')') && digits > 0 {
            true => plain.replace_range(at..at + BEGIN.len() + digits + 1, ""),
            false => from = at + BEGIN.len(),
        }
    }
    plain
}
