//! Lines of the log, for the journal and elsewhere.

use hostint::os::log::{Level, Stderr, debug, entry, is_written, lines};

#[test]
fn each_level_has_its_priority_in_the_journal() {
    for (level, priority) in [
        (Level::Error, 3),
        (Level::Warning, 4),
        (Level::Info, 6),
        (Level::Debug, 7),
    ] {
        let entry = entry(level, None, &[], "a line");
        let entry = String::from_utf8_lossy(&entry);
        assert!(
            entry.contains(&format!("\nPRIORITY={priority}\n")),
            "{entry}"
        );
        let told = lines(level, "a line\nanother", &Stderr::Journal(None));
        let expected = format!("<{priority}>hostint: a line\n<{priority}>hostint: another\n");
        assert_eq!(told, expected);
        assert_eq!(
            lines(level, "a line", &Stderr::Elsewhere),
            "hostint: a line\n"
        );
    }
}

#[test]
fn the_default_leaves_out_debug_lines_only() {
    let written = [Level::Error, Level::Warning, Level::Info, Level::Debug].map(is_written);
    assert_eq!(written, [true, true, true, false]);
    let mut made = false;
    debug(|| {
        made = true;
        String::new()
    });
    assert!(!made);
}
