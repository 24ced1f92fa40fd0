//! Reverse names: what is asked, and which answers are believed.

use std::time::Duration;

use hostint::os::dns::{MOST_NAME_BYTES, is_host_name, name_in, reverse};
use simple_dns::rdata::{PTR, RData};
use simple_dns::{CLASS, Name, Packet, ResourceRecord};

#[test]
fn an_address_is_asked_for_by_its_reverse_name() {
    for (address, name) in [
        ("192.0.2.9", "9.2.0.192.in-addr.arpa."),
        ("::ffff:192.0.2.9", "9.2.0.192.in-addr.arpa."),
        (
            "2001:db8::4e1f",
            "f.1.e.4.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.",
        ),
    ] {
        assert_eq!(address.parse().map(reverse).as_deref(), Ok(name));
    }
}

/// An answer with these names, valid for these seconds.
fn answer(names: &[(&[u8], u32)]) -> Vec<u8> {
    let asked = Name::new_unchecked("9.2.0.192.in-addr.arpa");
    let mut packet = Packet::new_reply(7);
    for (name, seconds) in names {
        let label = simple_dns::Label::new_unchecked(*name);
        let name = Name::new_with_labels(&[label]);
        let pointer = RData::PTR(PTR(name));
        let record = ResourceRecord::new(asked.clone(), CLASS::IN, *seconds, pointer);
        packet.answers.push(record);
    }
    packet.build_bytes_vec().unwrap_or_default()
}

#[test]
fn only_a_text_that_can_be_a_host_name_is_taken() {
    let name = |name: &str, seconds| Some((name.to_owned(), Duration::from_secs(seconds)));
    for (sentence, names, expected) in [
        ("a name", &[(&b"web-9"[..], 300)][..], name("web-9", 300)),
        (
            "the least time",
            &[(b"web-9", 300), (b"web-8", 60)],
            name("web-9", 60),
        ),
        (
            "the screen",
            &[(b"\x1b[2J", 300), (b"web-8", 300)],
            name("web-8", 300),
        ),
        ("markup", &[(b"<script>", 300)], None),
        ("a line", &[(b"a\nb", 300)], None),
        ("no name", &[], None),
    ] {
        assert_eq!(name_in(&answer(names)), expected, "{sentence}");
    }
    let whole = answer(&[(b"web-9", 300)]);
    for len in 0..whole.len() {
        assert_eq!(name_in(&whole[..len]), None, "the first {len} bytes");
    }
    assert!(!is_host_name(""));
    assert!(is_host_name(&"a".repeat(MOST_NAME_BYTES)));
    assert!(!is_host_name(&"a".repeat(MOST_NAME_BYTES + 1)));
}
