//! Any config file is read, or refused with mistakes of one line each that say where.
#![no_main]

use std::path::Path;

use hostint::config::File;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (file, mut mistakes) = File::parse(Path::new("F"), bytes);
    file.check_tables(&mut mistakes);
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    for mistake in &mistakes {
        assert!(
            mistake.line.is_some_and(|line| (1..=lines).contains(&line)),
            "{mistake}"
        );
        let text = mistake.to_string();
        assert!(text.starts_with("F:") && !text.contains('\n'), "{text}");
    }
    let _ = file.summary();
    assert!(file.sink.same_values(&file.sink));
});
