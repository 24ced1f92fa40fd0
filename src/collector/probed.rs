//! Answers to those who ask whether the collector is there.

use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd};

use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, RecvMsg, SockaddrStorage, sendmsg,
};

use super::socket::Socket;
use crate::wire::probe::{self, Probe, ProbeAnswer};

/// Probes that came with one call.
#[derive(Default)]
pub(super) struct Answers(Vec<Asked>);

struct Asked {
    probe: Probe,
    from: SockaddrStorage,
    /// The address that was asked, which has to answer.
    at: Option<ControlMessageOwned>,
}

impl Answers {
    pub(super) fn note(&mut self, probe: Probe, message: &RecvMsg<'_, '_, SockaddrStorage>) {
        let Some(from) = message.address else {
            return;
        };
        let at = message.cmsgs().ok().and_then(|mut told| told.next());
        self.0.push(Asked { probe, from, at });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Answers none of them; how many.
    pub(super) fn forget(&mut self) -> u64 {
        self.0.drain(..).len() as u64
    }

    /// Answers each once, as far as that is possible at once; how many it was not for.
    pub(super) fn send(&mut self, socket: &Socket, run: u64, queue_percent: u8) -> u64 {
        let mut unanswered = 0;
        for asked in self.0.drain(..) {
            let answer = probe::encode_answer(&ProbeAnswer {
                probe: asked.probe,
                queue_percent,
                run,
            });
            if asked.send(socket, &answer).is_err() {
                unanswered += 1;
            }
        }
        unanswered
    }
}

impl Asked {
    fn send(&self, socket: &Socket, answer: &[u8]) -> nix::Result<()> {
        let fd = socket.as_fd().as_raw_fd();
        let bytes = [IoSlice::new(answer)];
        let send = |at: &[ControlMessage<'_>]| {
            sendmsg(fd, &bytes, at, MsgFlags::MSG_DONTWAIT, Some(&self.from)).map(drop)
        };
        match self.at {
            Some(ControlMessageOwned::Ipv4PacketInfo(mut info)) => {
                // The way back is the routes' choice.
                info.ipi_ifindex = 0;
                info.ipi_spec_dst = info.ipi_addr;
                send(&[ControlMessage::Ipv4PacketInfo(&info)])
            }
            Some(ControlMessageOwned::Ipv6PacketInfo(mut info)) => {
                let [first, second, ..] = info.ipi6_addr.s6_addr;
                let link_local = first == 0xfe && second & 0xc0 == 0x80;
                if !link_local {
                    info.ipi6_ifindex = 0;
                }
                send(&[ControlMessage::Ipv6PacketInfo(&info)])
            }
            _ => send(&[]),
        }
    }
}
