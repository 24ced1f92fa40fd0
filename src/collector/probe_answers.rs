//! Answers to probes, by which sinks find out whether the collector is there.

use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd};

use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, RecvMsg, SockaddrStorage, sendmsg,
};

use super::socket::Socket;
use crate::wire::probe::{self, Probe, ProbeAnswer};

/// The probes that one system call received.
#[derive(Default)]
pub(super) struct ProbeAnswers(Vec<ReceivedProbe>);

struct ReceivedProbe {
    probe: Probe,
    from: SockaddrStorage,
    /// The address that the probe was sent to: the answer has to come from it.
    at: Option<ControlMessageOwned>,
}

impl ProbeAnswers {
    pub(super) fn note(&mut self, probe: Probe, message: &RecvMsg<'_, '_, SockaddrStorage>) {
        let Some(from) = message.address else {
            return;
        };
        let at = message
            .cmsgs()
            .ok()
            .and_then(|mut reported| reported.next());
        self.0.push(ReceivedProbe { probe, from, at });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Discards the probes without answers. Returns how many they were.
    pub(super) fn forget(&mut self) -> u64 {
        self.0.drain(..).len() as u64
    }

    /// Sends an answer to each probe without waiting. Returns how many answers could not be sent.
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

impl ReceivedProbe {
    fn send(&self, socket: &Socket, answer: &[u8]) -> nix::Result<()> {
        let fd = socket.as_fd().as_raw_fd();
        let bytes = [IoSlice::new(answer)];
        let send = |at: &[ControlMessage<'_>]| {
            sendmsg(fd, &bytes, at, MsgFlags::MSG_DONTWAIT, Some(&self.from)).map(drop)
        };
        match self.at {
            Some(ControlMessageOwned::Ipv4PacketInfo(mut info)) => {
                // The routing table chooses the interface of the answer.
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
