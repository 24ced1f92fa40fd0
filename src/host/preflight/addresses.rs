//! The addresses of the config file on which roles listen: whether this host has them, and whether they are free.

use std::io::{Error, ErrorKind};
use std::net::{TcpListener, UdpSocket};

use crate::config::{
    AGENT_HTTP_PORT, COLLECT_HTTP_PORT, File, POSTCARDS_HTTP_PORT, SINK_HTTP_PORT, SettingsTable,
    TCP_HTTP_PORT, TRANSIT_HTTP_PORT,
};
use crate::model::REPORT_PORT;
use crate::model::preflight::{FilePlace, Finding};
use crate::os::port_owner::{self, PortProtocol};
use crate::os::{plain_text::without_numbers, resolve};

/// The name that hostint's processes are started by.
const OWN: &str = "hostint";

/// One finding for each address that a table gives.
pub fn judge_addresses(file: &File) -> Vec<Finding> {
    let http = [
        (
            &file.run.options.http,
            place(&file.run, "http", 0),
            AGENT_HTTP_PORT,
        ),
        (
            &file.sink.options.http,
            place(&file.sink, "http", 0),
            SINK_HTTP_PORT,
        ),
        (
            &file.transit.options.http,
            place(&file.transit, "http", 0),
            TRANSIT_HTTP_PORT,
        ),
        (
            &file.postcards.options.http,
            place(&file.postcards, "http", 0),
            POSTCARDS_HTTP_PORT,
        ),
        (
            &file.tcp.options.http,
            place(&file.tcp, "http", 0),
            TCP_HTTP_PORT,
        ),
        (
            &file.collect.options.http,
            place(&file.collect, "http", 0),
            COLLECT_HTTP_PORT,
        ),
    ];
    let http = http.into_iter().filter_map(|(text, place, port)| {
        let text = text.as_deref()?;
        Some(judge(PortProtocol::Tcp, text, port).at(place))
    });
    let listen = file.collect.options.listen.iter().enumerate();
    let listen = listen.map(|(item, text)| {
        judge(PortProtocol::Udp, text, REPORT_PORT).at(place(&file.collect, "listen", item))
    });
    http.chain(listen).collect()
}

/// The place of a key, or of one value of its list.
pub fn place<O>(table: &SettingsTable<O>, key: &str, item: usize) -> Option<FilePlace> {
    Some(FilePlace {
        line: table.entries.get(key)?.line_of(item),
        table: table.name.to_owned(),
        key: key.to_owned(),
    })
}

fn judge(transport: PortProtocol, text: &str, default_port: u16) -> Finding {
    let address = match resolve::socket_address(text, default_port) {
        Ok(address) => address,
        Err(err) => {
            return Finding::fail("address", format!("cannot find {text}: {err}"))
                .advise("see getent hosts NAME");
        }
    };
    let bound = match transport {
        PortProtocol::Tcp => TcpListener::bind(address).map(drop),
        PortProtocol::Udp => UdpSocket::bind(address).map(drop),
    };
    let Err(err) = bound else {
        return Finding::ok("address", format!("{address} is this host's, and free"));
    };
    match err.kind() {
        ErrorKind::AddrInUse => taken(transport, address.port(), &address.to_string()),
        ErrorKind::AddrNotAvailable => Finding::fail(
            "address",
            format!("no interface of this host has {}", address.ip()),
        )
        .advise("see ip address"),
        _ => refused(&address.to_string(), &err),
    }
}

fn taken(transport: PortProtocol, port: u16, address: &str) -> Finding {
    match port_owner::of(transport, port) {
        Some(owner) if owner.name == OWN => {
            Finding::ok("address", format!("{address} is in use by hostint itself"))
        }
        Some(owner) => Finding::fail(
            "address",
            format!(
                "{address} is in use by {} (process {})",
                owner.name, owner.pid
            ),
        )
        .advise("give another port, or end that"),
        None => Finding::note(
            "address",
            format!("{address} is in use by another user's process"),
        )
        .advise("see ss -lntup, as root"),
    }
}

fn refused(address: &str, err: &Error) -> Finding {
    let text = without_numbers(format!("cannot listen on {address}: {err}"));
    Finding::fail("address", text).advise("give another address or port")
}
