//! Prefixes of destinations are parsed and written.

use hostint::model::{BadPrefix, Prefix};

#[test]
fn prefixes_are_read_and_written_in_both_families() {
    for (text, written, len) in [
        ("10.0.0.1", "10.0.0.1", 32),
        ("10.0.0.1/32", "10.0.0.1", 32),
        ("10.0.0.0/8", "10.0.0.0/8", 8),
        ("10.0.0.0/31", "10.0.0.0/31", 31),
        ("0.0.0.0/0", "0.0.0.0/0", 0),
        ("2001:DB8::1", "2001:db8::1", 128),
        ("2001:db8::1/128", "2001:db8::1", 128),
        ("2001:db8::/32", "2001:db8::/32", 32),
        ("2001:db8::/127", "2001:db8::/127", 127),
        ("8000::/1", "8000::/1", 1),
        ("::/0", "::/0", 0),
        ("::ffff:192.0.2.1", "192.0.2.1", 32),
        ("::ffff:c000:0201/128", "192.0.2.1", 32),
        ("::ffff:192.0.2.0/120", "192.0.2.0/24", 24),
        ("::ffff:0.0.0.0/96", "0.0.0.0/0", 0),
    ] {
        let prefix: Prefix = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(prefix.to_string(), written, "{text}");
        assert_eq!(prefix.len(), len, "{text}");
        assert_eq!(prefix.is_empty(), len == 0, "{text}");
        assert_eq!(written.parse(), Ok(prefix), "{text}");
        assert_eq!(Prefix::new(prefix.addr(), len), Ok(prefix), "{text}");
    }
}

#[test]
fn what_is_no_prefix_is_refused() {
    use BadPrefix::{HostBits, Length, Syntax};
    for (text, error) in [
        ("", Syntax),
        ("10.0.0", Syntax),
        ("10.0.0.300", Syntax),
        ("10.0.0.0/", Syntax),
        ("10.0.0.0/x", Syntax),
        ("10.0.0.0/256", Syntax),
        ("10.0.0.0/8/8", Syntax),
        ("2001:db8:::1", Syntax),
        ("fe80::1%eth0", Syntax),
        ("[2001:db8::1]", Syntax),
        ("10.0.0.0/33", Length),
        ("2001:db8::/129", Length),
        ("10.0.0.1/31", HostBits),
        ("10.0.0.1/8", HostBits),
        ("0.0.0.1/0", HostBits),
        ("2001:db8::1/127", HostBits),
        ("2001:db8::/28", HostBits),
        ("::1/0", HostBits),
    ] {
        assert_eq!(text.parse::<Prefix>(), Err(error), "{text}");
    }
}

#[test]
fn refusals_name_both_families() {
    for (error, sentence) in [
        (BadPrefix::Syntax, "not an IPv4 or IPv6 address or prefix"),
        (
            BadPrefix::Length,
            "prefix length above 32 (IPv4) or 128 (IPv6)",
        ),
        (
            BadPrefix::HostBits,
            "the address has bits beyond the prefix length",
        ),
    ] {
        assert_eq!(error.to_string(), sentence);
    }
}

#[test]
fn addresses_to_which_nothing_is_tagged_are_told_apart() {
    for (text, is_untagged) in [
        ("224.0.0.1", true),
        ("239.1.2.0/24", true),
        ("224.0.0.0/4", true),
        ("::ffff:224.0.0.1", true),
        ("255.255.255.255", true),
        ("ff02::1", true),
        ("ff00::/8", true),
        ("127.0.0.1", true),
        ("127.0.0.0/8", true),
        ("::1", true),
        ("0.0.0.0", true),
        ("::", true),
        ("::ffff:127.0.0.1", true),
        ("126.0.0.0/7", false),
        ("::/8", false),
        ("192.0.2.255", false),
        ("0.0.0.0/0", false),
        ("224.0.0.0/3", false),
        ("::/0", false),
        ("2001:db8::1", false),
    ] {
        let prefix: Prefix = text.parse().unwrap();
        let why = prefix.why_untagged();
        assert_eq!(why.is_some(), is_untagged, "{text}: {why:?}");
    }
}
