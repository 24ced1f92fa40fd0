//! The driver of a network interface, and its features that are on.

use std::io;
use std::os::fd::AsRawFd;

use nix::libc;

use super::log;
use super::netdev::{control_socket, request_about};

// Commands and limits of linux/ethtool.h.
const GET_SETTINGS: u32 = 0x01;
const GET_DRIVER: u32 = 0x03;
const GET_STRINGS: u32 = 0x1b;
const GET_STRING_COUNTS: u32 = 0x37;
const GET_FEATURES: u32 = 0x3a;
const SET_FEATURES: u32 = 0x3b;
const FEATURE_NAMES: u32 = 4;
const NAME_LEN: usize = 32;
const DRIVER_INFO_LEN: usize = 196;
const SETTINGS_LEN: usize = 44;
/// Offsets of the lower and upper half of the speed.
const SPEED_AT: [usize; 2] = [12, 28];

/// The feature that cuts superpackets in UDP tunnels.
pub const CUTS_TUNNELS: &str = "tx-udp_tnl-segmentation";

/// The feature that cuts superpackets of TCP over IPv6.
pub const CUTS_TCP6: &str = "tx-tcp6-segmentation";

/// The feature that finishes checksums over IPv6 only where no extension headers are in front of them.
pub const SUMS_IPV6: &str = "tx-checksum-ipv6";

/// The feature that merges received packets before the network stack.
pub const GRO: &str = "rx-gro";

/// Returns the driver's name, or `None` for an interface without one, such as loopback.
pub fn driver(dev: &str) -> io::Result<Option<String>> {
    let mut words = [0; DRIVER_INFO_LEN / 4];
    words[0] = GET_DRIVER;
    match ask(dev, &mut words) {
        Err(err) if err.raw_os_error() == Some(libc::EOPNOTSUPP) => return Ok(None),
        result => result?,
    }
    Ok(Some(text(&words[1..1 + NAME_LEN / 4])))
}

/// Returns the speed of the interface's link in Mbit/s, or `None` if the driver does not know it.
pub fn speed_mbit(dev: &str) -> io::Result<Option<u32>> {
    let mut words = [0; SETTINGS_LEN / 4];
    words[0] = GET_SETTINGS;
    match ask(dev, &mut words) {
        Err(err) if err.raw_os_error() == Some(libc::EOPNOTSUPP) => return Ok(None),
        result => result?,
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let half = |at: usize| match bytes.get(at..at + 2) {
        Some([one, other]) => u32::from(u16::from_ne_bytes([*one, *other])),
        _ => 0,
    };
    let [low, high] = SPEED_AT.map(half);
    let speed = low | high << 16;
    // Both values mean that it is not known.
    Ok(Some(speed).filter(|speed| *speed != 0 && *speed != u32::MAX))
}

/// True if the interface is one end of a veth pair.
pub fn is_veth(dev: &str) -> io::Result<bool> {
    Ok(driver(dev)?.as_deref() == Some("veth"))
}

/// True if a feature is on. A feature that the kernel does not know is off.
pub fn feature(dev: &str, name: &str) -> io::Result<bool> {
    Ok(features(dev)?
        .iter()
        .any(|(known, on)| known == name && *on))
}

/// Returns all features, and whether each is on.
pub fn features(dev: &str) -> io::Result<Vec<(String, bool)>> {
    let names = feature_names(dev)?;
    let blocks = names.len().div_ceil(32);
    // Four words for each 32 features: available, requested, active, never changed.
    let mut words = vec![0; 2 + 4 * blocks];
    words[0] = GET_FEATURES;
    words[1] = blocks as u32;
    ask(dev, &mut words)?;
    let active = |bit: usize| {
        words
            .get(2 + 4 * (bit / 32) + 2)
            .is_some_and(|active| active & 1 << (bit % 32) != 0)
    };
    Ok(names
        .into_iter()
        .enumerate()
        .map(|(bit, name)| (name, active(bit)))
        .collect())
}

/// Turns off all features whose name satisfies `concerns`, as far as the driver allows it.
pub fn turn_off(dev: &str, concerns: impl Fn(&str) -> bool) -> io::Result<()> {
    log::debug(|| format!("ethtool: turning features of {dev} off"));
    let names = feature_names(dev)?;
    let blocks = names.len().div_ceil(32);
    // Two words for each 32 features: those to be set, and their values.
    let mut words = vec![0; 2 + 2 * blocks];
    words[0] = SET_FEATURES;
    words[1] = blocks as u32;
    for (bit, name) in names.iter().enumerate() {
        if concerns(name)
            && let Some(valid) = words.get_mut(2 + 2 * (bit / 32))
        {
            *valid |= 1 << (bit % 32);
        }
    }
    ask(dev, &mut words)
}

/// Returns the kernel's names of features in the order of their bits.
fn feature_names(dev: &str) -> io::Result<Vec<String>> {
    // The words are: command, unused, a mask of 64 bits, the count.
    let mut counts = [GET_STRING_COUNTS, 0, 0, 0, 0];
    write_u64(&mut counts[2..4], 1 << FEATURE_NAMES);
    ask(dev, &mut counts)?;
    let count = counts[4] as usize;
    let mut words = vec![0; 3 + count * NAME_LEN / 4];
    words[0] = GET_STRINGS;
    words[1] = FEATURE_NAMES;
    words[2] = counts[4];
    ask(dev, &mut words)?;
    Ok(words[3..].chunks(NAME_LEN / 4).map(text).collect())
}

fn write_u64(words: &mut [u32], value: u64) {
    for (word, bytes) in words.iter_mut().zip(value.to_ne_bytes().chunks(4)) {
        *word = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
}

/// Reads a NUL-terminated text from words.
fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Makes the kernel carry out a command. The command is the first word, and reads and writes the words after it.
fn ask(dev: &str, words: &mut [u32]) -> io::Result<()> {
    let socket = control_socket()?;
    let mut request = request_about(dev)?;
    request.ifr_ifru.ifru_data = words.as_mut_ptr().cast();
    // SAFETY: the request names the interface, NUL-terminated, and points to as many words as the command
    // has or its count says.
    if unsafe {
        libc::ioctl(
            socket.as_raw_fd(),
            libc::SIOCETHTOOL as libc::Ioctl,
            &request,
        )
    } < 0
    {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
