//! Lines of the log, for the journal and elsewhere.

use hostint::os::log::{Level, Stderr, debug, entry, is_written, lines};
use hostint::os::plain_text::without_numbers;

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

#[test]
fn errors_of_the_system_are_told_without_their_numbers() {
    for (text, plain) in [
        ("", ""),
        ("No such device (os error 19)", "No such device"),
        (
            "cannot do a (os error 2); nor b (os error 13) (try sudo)",
            "cannot do a; nor b (try sudo)",
        ),
        ("(os error 2)", "(os error 2)"),
        ("a (os error )", "a (os error )"),
        ("a (os error 2", "a (os error 2"),
        ("a (os error x) (os error 5)", "a (os error x)"),
        ("ü (os error 5)ö", "üö"),
    ] {
        assert_eq!(without_numbers(text.to_owned()), plain, "{text:?}");
    }
}
