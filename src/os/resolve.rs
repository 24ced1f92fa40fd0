//! The resolution of host names to addresses, in a static binary too.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// Keeps glibc from loading the host's name-service modules. A static binary cannot use them: if the host has another
/// glibc than the binary was built with, they end the process. Must run before the first look-up. The services that are
/// compiled in, /etc/hosts and DNS, stay.
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
pub fn pin_name_services() {
    use std::ffi::{CStr, c_char, c_int};

    unsafe extern "C" {
        fn __nss_configure_lookup(database: *const c_char, services: *const c_char) -> c_int;
    }
    const SERVICES: [(&CStr, &CStr); 6] = [
        (c"hosts", c"files dns"),
        (c"services", c"files"),
        (c"protocols", c"files"),
        (c"networks", c"files"),
        (c"passwd", c"files"),
        (c"group", c"files"),
    ];
    for (database, services) in SERVICES {
        // SAFETY: both strings are NUL-terminated and static; no other thread runs yet. A failure leaves
        // glibc's default, as without this call.
        unsafe { __nss_configure_lookup(database.as_ptr(), services.as_ptr()) };
    }
}

/// Does nothing: a dynamic binary loads the host's modules with the host's glibc.
#[cfg(not(all(target_env = "gnu", target_feature = "crt-static")))]
pub fn pin_name_services() {}

/// Returns all addresses of a host name or address literal.
pub fn addresses(host: &str) -> io::Result<Vec<IpAddr>> {
    let mut found: Vec<IpAddr> = (host, 0).to_socket_addrs()?.map(|addr| addr.ip()).collect();
    found.sort();
    found.dedup();
    Ok(found)
}

/// Returns all addresses of a host name or address literal. Fails if there is none.
pub fn some_addresses(host: &str) -> io::Result<Vec<IpAddr>> {
    let found = addresses(host)?;
    if found.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            "the name has no address",
        ));
    }
    Ok(found)
}

/// Splits `HOST[:PORT]`, `[IPV6]:PORT` or an address literal into host and port. The host has no brackets.
pub fn name_and_port(text: &str, default_port: u16) -> io::Result<(&str, u16)> {
    if bare(text).parse::<IpAddr>().is_ok() {
        return Ok((bare(text), default_port));
    }
    let invalid = |why| io::Error::new(io::ErrorKind::InvalidInput, why);
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => {
            let port = port
                .parse()
                .map_err(|_| invalid("a port is a number up to 65535"))?;
            (host, port)
        }
        None => (text, default_port),
    };
    if host.is_empty() {
        return Err(invalid("no host"));
    }
    Ok((bare(host), port))
}

fn bare(text: &str) -> &str {
    text.strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text)
}

/// Returns the first address of `HOST[:PORT]`, `[IPV6]:PORT` or an address literal.
pub fn socket_address(text: &str, default_port: u16) -> io::Result<SocketAddr> {
    if let Ok(addr) = text.parse::<SocketAddr>() {
        return Ok(addr);
    }
    let (host, port) = name_and_port(text, default_port)?;
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(SocketAddr::new(ip, port));
    }
    let addresses = some_addresses(host)?;
    addresses
        .iter()
        .find(|ip| ip.is_ipv4())
        .or(addresses.first())
        .map(|ip| SocketAddr::new(*ip, port))
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the name has no address"))
}
