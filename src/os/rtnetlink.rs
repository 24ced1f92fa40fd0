//! Interfaces made, set up and removed by netlink messages to the kernel.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::tc::{TcAttribute, TcFilterBpfOption, TcHandle, TcMessage, TcOption};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};

/// Where filters of the clsact qdisc hang.
const CLSACT_INGRESS: u32 = 0xffff_fff2;
const CLSACT_EGRESS: u32 = 0xffff_fff3;

/// The longest answer: that to one interface is a few KiB.
const ANSWER_LEN: usize = 64 << 10;

/// Makes a pair of connected interfaces.
pub fn add_veth(name: &str, peer: &str, mtu: u32) -> io::Result<()> {
    let mut other = LinkMessage::default();
    other.attributes = vec![
        LinkAttribute::IfName(peer.to_owned()),
        LinkAttribute::Mtu(mtu),
    ];
    let mut link = LinkMessage::default();
    link.attributes = vec![
        LinkAttribute::IfName(name.to_owned()),
        LinkAttribute::Mtu(mtu),
        LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(other))),
        ]),
    ];
    request(
        RouteNetlinkMessage::NewLink(link),
        NLM_F_CREATE | NLM_F_EXCL,
    )?;
    Ok(())
}

/// Removes an interface, and what it is connected to if it is a veth.
pub fn remove(index: u32) -> io::Result<()> {
    request(RouteNetlinkMessage::DelLink(link_at(index)), 0)?;
    Ok(())
}

/// Lets an interface send and receive.
pub fn set_up(index: u32) -> io::Result<()> {
    let mut link = link_at(index);
    link.header.flags = LinkFlags::Up;
    link.header.change_mask = LinkFlags::Up;
    request(RouteNetlinkMessage::SetLink(link), 0)?;
    Ok(())
}

/// The most segments that a superpacket to this interface may consist of.
pub fn gso_max_segs(index: u32) -> io::Result<u32> {
    let answer = request(RouteNetlinkMessage::GetLink(link_at(index)), 0)?;
    answer
        .into_iter()
        .flat_map(|link| link.attributes)
        .find_map(|attribute| match attribute {
            LinkAttribute::GsoMaxSegs(segments) => Some(segments),
            _ => None,
        })
        .ok_or_else(|| io::Error::other("the kernel does not state gso_max_segs"))
}

pub fn set_gso_max_segs(index: u32, segments: u32) -> io::Result<()> {
    let mut link = link_at(index);
    link.attributes = vec![LinkAttribute::GsoMaxSegs(segments)];
    request(RouteNetlinkMessage::SetLink(link), 0)?;
    Ok(())
}

/// What an interface does just now.
#[derive(Clone, Debug, Default)]
pub struct LinkState {
    /// It is to send and receive,
    pub up: bool,
    /// and is connected.
    pub running: bool,
    pub qdisc: Option<String>,
}

pub fn link_state(index: u32) -> io::Result<LinkState> {
    let answer = request(RouteNetlinkMessage::GetLink(link_at(index)), 0)?;
    let link =
        answer.ok_or_else(|| io::Error::other("the kernel does not describe the interface"))?;
    Ok(LinkState {
        up: link.header.flags.contains(LinkFlags::Up),
        running: link.header.flags.contains(LinkFlags::LowerUp),
        qdisc: link
            .attributes
            .into_iter()
            .find_map(|attribute| match attribute {
                LinkAttribute::Qdisc(name) => Some(name),
                _ => None,
            }),
    })
}

/// A filter at a clsact hook; of a BPF program its number and name.
#[derive(Clone, Debug)]
pub struct ClsactFilter {
    pub ingress: bool,
    pub priority: u16,
    pub kind: String,
    pub program: Option<u32>,
    pub name: Option<String>,
}

/// The filters at an interface's clsact hooks.
pub fn clsact_filters(index: u32) -> io::Result<Vec<ClsactFilter>> {
    let mut found = Vec::new();
    for (parent, ingress) in [(CLSACT_INGRESS, true), (CLSACT_EGRESS, false)] {
        let mut question = TcMessage::default();
        question.header.index = i32::try_from(index).map_err(io::Error::other)?;
        question.header.parent = TcHandle::from(parent);
        exchange(
            RouteNetlinkMessage::GetTrafficFilter(question),
            NLM_F_DUMP,
            |answer| {
                if let RouteNetlinkMessage::NewTrafficFilter(filter) = answer {
                    found.push(describe(&filter, ingress));
                }
            },
        )?;
    }
    Ok(found)
}

fn describe(filter: &TcMessage, ingress: bool) -> ClsactFilter {
    let mut found = ClsactFilter {
        ingress,
        // The upper half; the lower is the protocol.
        priority: (filter.header.info >> 16) as u16,
        kind: String::new(),
        program: None,
        name: None,
    };
    for attribute in &filter.attributes {
        match attribute {
            TcAttribute::Kind(kind) => found.kind.clone_from(kind),
            TcAttribute::Options(options) => {
                for option in options {
                    match option {
                        TcOption::Bpf(TcFilterBpfOption::ProgId(id)) => found.program = Some(*id),
                        TcOption::Bpf(TcFilterBpfOption::ProgName(name)) => {
                            found.name = Some(name.clone());
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    found
}

fn link_at(index: u32) -> LinkMessage {
    let mut link = LinkMessage::default();
    link.header.index = index;
    link
}

/// Sends one message and returns the interface that the kernel answers with, if it does.
fn request(message: RouteNetlinkMessage, flags: u16) -> io::Result<Option<LinkMessage>> {
    let mut answer = None;
    exchange(message, NLM_F_ACK | flags, |part| {
        if let RouteNetlinkMessage::NewLink(link) = part {
            answer = Some(link);
        }
    })?;
    Ok(answer)
}

/// Sends one message and hands what the kernel answers to `take`, until it is done.
fn exchange(
    message: RouteNetlinkMessage,
    flags: u16,
    mut take: impl FnMut(RouteNetlinkMessage),
) -> io::Result<()> {
    let socket: OwnedFd = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkRoute,
    )?;
    let mut message = NetlinkMessage::from(message);
    message.header.flags = NLM_F_REQUEST | flags;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    send(socket.as_raw_fd(), &bytes, MsgFlags::empty())?;

    let mut buffer = vec![0; ANSWER_LEN];
    loop {
        let len = recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
        let mut rest = buffer.get(..len).unwrap_or_default();
        while !rest.is_empty() {
            let part = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                .map_err(io::Error::other)?;
            match part.payload {
                NetlinkPayload::Error(error) if error.code.is_some() => return Err(error.to_io()),
                NetlinkPayload::Error(_) | NetlinkPayload::Done(_) => return Ok(()),
                NetlinkPayload::InnerMessage(part) => take(part),
                _ => {}
            }
            let used = (part.header.length as usize).next_multiple_of(4).max(4);
            rest = rest.get(used..).unwrap_or_default();
        }
    }
}
