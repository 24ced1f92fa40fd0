//! The content of a file of HTTP headers is kept secret, even in the message about a mistake in it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use hostint_testing::places;
use hostint_testing::scratch::TempFile;

use super::file::mistakes;

#[test]
fn headers_are_read_from_a_file_that_others_cannot_read_and_never_shown() {
    let wrong = "is not a header (expected for instance X-Scope-OrgID: net)";
    let cases = [
        (
            "two",
            0o600,
            "Authorization: Bearer s3cret\nX-Scope-OrgID:net\n",
            None,
        ),
        ("none, and words", 0o400, "# who we are\n\n", None),
        ("a value with a colon", 0o600, "X-A: s3cret:2\r\n", None),
        (
            "others read it",
            0o644,
            "X-A: s3cret\n",
            Some("others may read it (try: chmod 600"),
        ),
        (
            "the group reads it",
            0o640,
            "X-A: s3cret\n",
            Some("others may read it"),
        ),
        (
            "no colon",
            0o600,
            "\ns3cret\n",
            Some(&*format!("line 2 {wrong}")),
        ),
        (
            "no value",
            0o600,
            "s3cret:\n",
            Some(&*format!("line 1 {wrong}")),
        ),
        ("no name", 0o600, ": s3cret\n", Some(wrong)),
        ("a name of two words", 0o600, "My s3cret: 7\n", Some(wrong)),
        (
            "a control character",
            0o600,
            "X-A: s3c\u{1}ret\n",
            Some(wrong),
        ),
        ("no ASCII", 0o600, "X-A: s3crét\n", Some(wrong)),
        (
            "one of ours",
            0o600,
            "CONTENT-Type: s3cret\n",
            Some("line 1 has CONTENT-Type, which hostint sets itself"),
        ),
        (
            "too long",
            0o600,
            &*"#".repeat(70_000),
            Some("it is longer than 64 KiB"),
        ),
    ];
    for (name, mode, text, refused) in cases {
        let headers = TempFile::new("headers", text);
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(headers.path(), permissions).unwrap();
        let path = headers.path();
        let table = format!("[collect]\notlp = \"http://otlp\"\npush-headers-file = \"{path}\"\n");
        let (file, found) = mistakes(table.as_bytes());
        match refused {
            Some(why) => {
                let [said] = &found[..] else {
                    panic!("{name}: {found:?}");
                };
                let begin = "F:3: [collect] push-headers-file: cannot ";
                assert!(
                    said.starts_with(begin) && said.contains(why),
                    "{name}: {said}"
                );
            }
            None => {
                assert_eq!(found, Vec::<String>::new(), "{name}");
                let config = file.collect.options.check().unwrap();
                assert!(!format!("{config:?}").contains("s3cret"), "{name}");
                let headers = config.engines.push.headers.0;
                let colons = text.lines().filter(|line| line.contains(':'));
                assert_eq!(headers.len(), colons.count(), "{name}");
                for (header, value) in headers {
                    assert!(text.contains(&header) && text.contains(&value), "{name}");
                }
            }
        }
        assert!(!found.concat().contains("s3c"), "{name}: {found:?}");
    }
}

#[test]
fn a_file_that_the_service_manager_hands_over_may_seem_to_be_read_by_a_group() {
    let headers = TempFile::new("headers", "X-A: s3cret\n");
    let permissions = std::fs::Permissions::from_mode(0o440);
    std::fs::set_permissions(headers.path(), permissions).unwrap();
    let path = headers.path();
    let file = TempFile::new(
        "config.toml",
        format!("[collect]\notlp = \"http://otlp\"\npush-headers-file = \"{path}\"\n"),
    );
    let folder = Path::new(path).parent().unwrap();
    let cases = [
        ("what it hands over", folder, Some(0)),
        ("a file elsewhere", Path::new("/nowhere"), Some(2)),
        ("it hands nothing over", Path::new(""), Some(2)),
    ];
    for (name, given, code) in cases {
        let output = Command::new(places::hostint())
            .args(["check", file.path()])
            .env("CREDENTIALS_DIRECTORY", given)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), code, "{name}: {output:?}");
    }
}
