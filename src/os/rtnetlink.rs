//! Requests to the kernel by netlink messages: interfaces are made, changed, described and removed.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::nsid::{NsidAttribute, NsidMessage};
use netlink_packet_route::tc::{TcAttribute, TcFilterBpfOption, TcHandle, TcMessage, TcOption};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};

use super::link_events::SeenLink;
use super::{log, netdev};

/// The parents of the clsact qdisc's filters.
const CLSACT_INGRESS: u32 = 0xffff_fff2;
const CLSACT_EGRESS: u32 = 0xffff_fff3;

/// The longest answer; one about an interface has a few KiB.
const ANSWER_LEN: usize = 64 << 10;

/// Makes a pair of connected interfaces.
pub fn add_veth(name: &str, peer: &str, mtu: u32) -> io::Result<()> {
    log::debug(|| format!("netlink: adding the veth pair {name} and {peer} with MTU {mtu}"));
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

/// Removes an interface, and the other end of the pair if it is a veth.
pub fn remove(index: u32) -> io::Result<()> {
    log::debug(|| format!("netlink: removing {}", netdev::label_of(index)));
    request(RouteNetlinkMessage::DelLink(link_at(index)), 0)?;
    Ok(())
}

/// Sets an interface up.
pub fn set_up(index: u32) -> io::Result<()> {
    log::debug(|| format!("netlink: setting {} up", netdev::label_of(index)));
    let mut link = link_at(index);
    link.header.flags = LinkFlags::Up;
    link.header.change_mask = LinkFlags::Up;
    request(RouteNetlinkMessage::SetLink(link), 0)?;
    Ok(())
}

/// Returns the most segments of a superpacket to this interface.
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
    log::debug(|| {
        let dev = netdev::label_of(index);
        format!("netlink: setting gso_max_segs of {dev} to {segments}")
    });
    let mut link = link_at(index);
    link.attributes = vec![LinkAttribute::GsoMaxSegs(segments)];
    request(RouteNetlinkMessage::SetLink(link), 0)?;
    Ok(())
}

/// The present state of an interface.
#[derive(Clone, Debug, Default)]
pub struct InterfaceState {
    /// The interface is set up.
    pub up: bool,
    /// The interface has a carrier.
    pub running: bool,
    pub qdisc: Option<String>,
    /// The device behind the interface, on kernels since 5.14; software interfaces have none.
    pub device: Option<String>,
    /// The kind of a software interface, as `ip -d link` shows it; loopback has none.
    pub kind: Option<String>,
    pub loopback: bool,
    /// The interface of which this one is a port, such as a bridge or a bond.
    pub master: Option<u32>,
    /// The interface below, in the same network namespace: that of a VLAN, a macvlan or an ipvlan.
    pub lower: Option<u32>,
}

impl InterfaceState {
    fn of(link: LinkMessage) -> Self {
        let flags = link.header.flags;
        let mut state = Self {
            up: flags.contains(LinkFlags::Up),
            running: flags.contains(LinkFlags::LowerUp),
            loopback: flags.contains(LinkFlags::Loopback),
            ..Self::default()
        };
        let mut elsewhere = false;
        for attribute in link.attributes {
            match attribute {
                LinkAttribute::Qdisc(name) => state.qdisc = Some(name),
                LinkAttribute::ParentDevName(name) => state.device = Some(name),
                LinkAttribute::Controller(master) => state.master = Some(master),
                LinkAttribute::Link(lower) => state.lower = Some(lower),
                LinkAttribute::LinkNetNsId(_) => elsewhere = true,
                LinkAttribute::LinkInfo(infos) => {
                    state.kind = infos.into_iter().find_map(|info| match info {
                        LinkInfo::Kind(kind) => Some(kind.to_string()),
                        _ => None,
                    });
                }
                _ => {}
            }
        }
        if elsewhere {
            // The number is that of an interface in another namespace.
            state.lower = None;
        }
        state
    }
}

/// Returns the index and the state of each interface of this network namespace.
pub fn interfaces() -> io::Result<Vec<(u32, InterfaceState)>> {
    let mut found = Vec::new();
    exchange(
        RouteNetlinkMessage::GetLink(LinkMessage::default()),
        NLM_F_DUMP,
        |answer| {
            if let RouteNetlinkMessage::NewLink(link) = answer {
                found.push((link.header.index, InterfaceState::of(link)));
            }
        },
    )?;
    Ok(found)
}

/// Returns the interfaces of this network namespace by their names.
pub fn links() -> io::Result<Vec<SeenLink>> {
    let mut found = Vec::new();
    exchange(
        RouteNetlinkMessage::GetLink(LinkMessage::default()),
        NLM_F_DUMP,
        |answer| {
            if let RouteNetlinkMessage::NewLink(link) = answer {
                found.extend(SeenLink::of(&link));
            }
        },
    )?;
    Ok(found)
}

/// What names a network namespace.
#[derive(Clone, Copy, Debug)]
pub enum NetnsNamedBy {
    /// A process in it.
    Process(u32),
    /// A descriptor of it.
    File(RawFd),
}

/// Returns the number that this network namespace has for another one, if an interface here leads there.
pub fn netns_number(of: NetnsNamedBy) -> io::Result<Option<i32>> {
    let mut question = NsidMessage::default();
    question.attributes = vec![match of {
        NetnsNamedBy::Process(pid) => NsidAttribute::Pid(pid),
        NetnsNamedBy::File(fd) => NsidAttribute::Fd(fd.cast_unsigned()),
    }];
    let mut number = None;
    exchange(
        RouteNetlinkMessage::GetNsId(question),
        NLM_F_ACK,
        |answer| {
            if let RouteNetlinkMessage::NewNsId(found) = answer {
                number = found.attributes.iter().find_map(|one| match one {
                    NsidAttribute::Id(number) => Some(*number),
                    _ => None,
                });
            }
        },
    )?;
    // A namespace without a number is -1.
    Ok(number.filter(|number| *number >= 0))
}

pub fn interface_state(index: u32) -> io::Result<InterfaceState> {
    let answer = request(RouteNetlinkMessage::GetLink(link_at(index)), 0)?;
    let link =
        answer.ok_or_else(|| io::Error::other("the kernel does not describe the interface"))?;
    Ok(InterfaceState::of(link))
}

/// A filter at a clsact hook.
#[derive(Clone, Debug)]
pub struct InstalledFilter {
    pub ingress: bool,
    pub priority: u16,
    pub kind: String,
    /// The id of its BPF program, if it has one.
    pub program: Option<u32>,
    pub name: Option<String>,
}

/// Returns the filters at an interface's clsact hooks.
pub fn clsact_filters(index: u32) -> io::Result<Vec<InstalledFilter>> {
    log::debug(|| {
        format!(
            "netlink: reading the clsact filters of {}",
            netdev::label_of(index)
        )
    });
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

fn describe(filter: &TcMessage, ingress: bool) -> InstalledFilter {
    let mut found = InstalledFilter {
        ingress,
        // The upper half is the priority, the lower half the protocol.
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

/// Sends one message. Returns the interface in the kernel's answer, if there is one.
pub(super) fn request(message: RouteNetlinkMessage, flags: u16) -> io::Result<Option<LinkMessage>> {
    let mut answer = None;
    exchange(message, NLM_F_ACK | flags, |part| {
        if let RouteNetlinkMessage::NewLink(link) = part {
            answer = Some(link);
        }
    })?;
    Ok(answer)
}

/// Sends one message and hands each part of the kernel's answer to `take`.
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
