//! Questions to DNS that getaddrinfo does not answer, in a static binary too: lifetimes, and the names of addresses.

use std::net::IpAddr;
use std::time::Duration;

use simple_dns::Packet;
use simple_dns::rdata::RData;

/// The largest answer that is read.
const MOST_BYTES: usize = 4096;

/// The longest name that DNS can have, as text.
pub const MOST_NAME_BYTES: usize = 253;

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
pub fn reverse(address: IpAddr) -> String {
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
pub fn name_in(answer: &[u8]) -> Option<(String, Duration)> {
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

pub fn is_host_name(name: &str) -> bool {
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
