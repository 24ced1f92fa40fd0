//! Patterns of interface names cover the names that they should, and no others.

use hostint::model::name_pattern::{covers, is_pattern};

#[test]
fn patterns_cover_names() {
    for (pattern, name, covered) in [
        ("eth0", "eth0", true),
        ("eth0", "eth01", false),
        ("eth0", "eth", false),
        ("veth*", "veth", true),
        ("veth*", "veth7f3a", true),
        ("veth*", "xveth7", false),
        ("*", "", true),
        ("*", "lo", true),
        ("*0", "eth0", true),
        ("*0", "eth00", true),
        ("*0", "eth01", false),
        ("e*h*0", "eth10", true),
        ("e*h*0", "eth1", false),
        ("a*b*c", "abbbc", true),
        ("a*ab", "aab", true),
        ("a*ab", "ab", false),
        ("eth?", "eth0", true),
        ("eth?", "eth", false),
        ("eth?", "eth10", false),
        ("?*", "", false),
        ("cali?*", "cali1", true),
        ("cali?*", "cali", false),
        ("", "", true),
        ("", "eth0", false),
        ("[a-z]*", "eth0", false),
        ("é*", "éth", true),
    ] {
        assert_eq!(covers(pattern, name), covered, "{pattern:?} and {name:?}");
    }
    for (text, expected) in [
        ("eth0", false),
        ("veth*", true),
        ("eth?", true),
        ("", false),
    ] {
        assert_eq!(is_pattern(text), expected, "{text:?}");
    }
}

#[test]
fn many_stars_take_no_time() {
    let name = "a".repeat(5000);
    let pattern = "*a".repeat(400);
    assert!(covers(&pattern, &name));
    assert!(!covers(&format!("{pattern}b"), &name));
}
