//! Host names, addresses, prefixes and ports as users write them.

use std::net::{IpAddr, SocketAddr};

use crate::model::{Prefix, RuleHost};

/// The port of `HOST[:PORT]` or `[IPV6]:PORT`, without a lookup of the host.
///
/// # Errors
/// Why the text has no host or no valid port.
pub fn port_of(text: &str, default_port: u16) -> Result<u16, String> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address.port());
    }
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    if bare.unwrap_or(text).parse::<IpAddr>().is_ok() {
        return Ok(default_port);
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => {
            let number = port.parse();
            (
                host,
                number.map_err(|_| "a port is a number up to 65535".to_owned())?,
            )
        }
        None => (text, default_port),
    };
    if !is_name(host) {
        return Err("it has no host".to_owned());
    }
    Ok(port)
}

/// Whether this may be a host name.
fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=255).contains(&text.len()) && text.chars().all(allowed)
}

/// An address or prefix with its meaning, or a name that is still to be looked up.
///
/// # Errors
/// Why the text is none of them.
pub fn place(text: &str) -> Result<RuleHost, String> {
    let looks_numeric =
        text.contains(['/', ':']) || text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let prefixes = match text.parse::<Prefix>() {
        Ok(prefix) => vec![prefix],
        Err(_) if !looks_numeric && is_name(text) => Vec::new(),
        Err(err) => {
            return Err(format!(
                "{err} (expected a name, 10.0.0.1, 10.0.0.0/24 or 2001:db8::/64)"
            ));
        }
    };
    Ok(RuleHost {
        text: text.to_owned(),
        prefixes,
    })
}
