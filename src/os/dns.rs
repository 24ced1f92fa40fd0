//! Questions to DNS that getaddrinfo does not answer, in a static binary too: lifetimes, and the names of addresses.

use std::net::IpAddr;
use std::time::Duration;

use simple_dns::Packet;
use simple_dns::rdata::RData;

/// The largest answer that is read.
const MOST_BYTES: usize = 4096;

/// The longest name that DNS can have, as text.
const MOST_NAME_BYTES: usize = 253;

const ADDRESS: i32 = 1;
const POINTER: i32 = 12;
const IPV6_ADDRESS: i32 = 28;

/// Returns how long DNS allows to keep the addresses of a host name, or `None` if DNS does not know the name.
pub fn time_to_live(host: &str) -> Option<Duration> {
    let mut buffer = [0; MOST_BYTES];
    let mut shortest = None;
    for kind in [ADDRESS, IPV6_ADDRESS] {
        let found = ask(host, kind, &mut buffer).and_then(shortest_life);
        shortest = found.into_iter().chain(shortest).min();
    }
    shortest
}

/// Returns the name that DNS has for an address, and how long it may be kept. This may take seconds.
pub fn name_of(address: IpAddr) -> Option<(String, Duration)> {
    let mut buffer = [0; MOST_BYTES];
    name_in(ask(&reverse(address), POINTER, &mut buffer)?)
}

/// The name under which DNS keeps the name of an address. The dot at its end keeps search domains away.
fn reverse(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            format!("{d}.{c}.{b}.{a}.in-addr.arpa.")
        }
        IpAddr::V6(address) => {
            let bytes = address.octets().into_iter().rev();
            let digits = bytes.map(|byte| format!("{:x}.{:x}.", byte & 15, byte >> 4));
            digits.collect::<String>() + "ip6.arpa."
        }
    }
}

fn shortest_life(answer: &[u8]) -> Option<Duration> {
    let packet = Packet::parse(answer).ok()?;
    let seconds = packet.answers.iter().map(|record| record.ttl).min()?;
    Some(Duration::from_secs(seconds.into()))
}

/// The first name of an answer that can be the name of a host. Everybody may write anything into the zone of an address
/// that he holds.
fn name_in(answer: &[u8]) -> Option<(String, Duration)> {
    let packet = Packet::parse(answer).ok()?;
    let mut names = packet.answers.iter().filter_map(|record| {
        let RData::PTR(pointer) = &record.rdata else {
            return None;
        };
        let text = pointer.0.to_string();
        let name = text.trim_end_matches('.');
        is_host_name(name).then(|| name.to_owned())
    });
    Some((names.next()?, shortest_life(answer)?))
}

fn is_host_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=MOST_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_plain)
}

/// Asks the host's resolver, and returns the answer.
#[cfg(target_env = "gnu")]
fn ask<'a>(name: &str, kind: i32, buffer: &'a mut [u8; MOST_BYTES]) -> Option<&'a [u8]> {
    use std::ffi::{CString, c_char, c_int, c_uchar};

    unsafe extern "C" {
        fn res_search(
            name: *const c_char,
            class: c_int,
            kind: c_int,
            answer: *mut c_uchar,
            answer_len: c_int,
        ) -> c_int;
    }
    const CLASS_INTERNET: c_int = 1;
    let name = CString::new(name).ok()?;
    // SAFETY: the name is NUL-terminated, the buffer as long as said; both outlive the call, which keeps its state by
    // thread.
    let len = unsafe {
        res_search(
            name.as_ptr(),
            CLASS_INTERNET,
            kind,
            buffer.as_mut_ptr(),
            MOST_BYTES as c_int,
        )
    };
    buffer.get(..usize::try_from(len).ok()?)
}

/// Returns `None`: only glibc offers the look-up.
#[cfg(not(target_env = "gnu"))]
fn ask<'a>(_name: &str, _kind: i32, _buffer: &'a mut [u8; MOST_BYTES]) -> Option<&'a [u8]> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use simple_dns::rdata::PTR;
    use simple_dns::{CLASS, Name, ResourceRecord};

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
}
