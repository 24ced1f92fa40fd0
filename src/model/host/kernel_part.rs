//! The parts of the kernel that each role asks for, which version of Linux brought them, and what becomes of the role where
//! the kernel lacks or refuses one.
//!
//! hostint(8), `hostint status`, `hostint doctor` and the page have their words from this table.

/// A part of the kernel. Its number is that of its bit in reports and settings: new ones are added at the end.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum KernelPart {
    KernelTypes,
    RingBuffers,
    Tc,
    Xdp,
    Tcx,
    Batches,
    TestRun,
    HostWaits,
    SendBufferWaits,
    DatagramWaits,
    QueueWaits,
    NicStamps,
    NamespaceWalk,
    Drops,
    Passages,
    SocketPassages,
    QueueEpisodes,
    QueueEntries,
    TaskWalk,
    OpenConnections,
    Endings,
    Option114,
    AdoptedConnections,
    Atomics,
    TaiClock,
    CoarseClock,
    MtuCheck,
    XdpBuffers,
    ChecksumState,
    KernelReads,
}

/// What becomes of a role without a part.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Without {
    /// Nothing is missing: this is done instead.
    Replaced(&'static str),
    /// These figures are missing; all others are as they would be.
    Missing(&'static str),
    /// The role does not start, and leaves nothing behind.
    CannotRun,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct PartFacts {
    pub part: KernelPart,
    /// What is asked of the kernel, as its own words have it.
    pub name: &'static str,
    pub roles: &'static str,
    /// The first version of Linux that has it.
    pub since: &'static str,
    pub without: Without,
}

const fn row(
    part: KernelPart,
    name: &'static str,
    roles: &'static str,
    since: &'static str,
    without: Without,
) -> PartFacts {
    PartFacts {
        part,
        name,
        roles,
        since,
        without,
    }
}

use KernelPart as P;
use Without::{CannotRun, Missing, Replaced};

/// The whole table, in the order of the parts' numbers.
pub const KERNEL_PARTS: [PartFacts; 30] = [
    row(
        P::KernelTypes,
        "types of the kernel (BTF)",
        "all but collect",
        "5.10",
        CannotRun,
    ),
    row(
        P::RingBuffers,
        "ring buffers",
        "all but collect",
        "5.8",
        CannotRun,
    ),
    row(
        P::Tc,
        "programs of type tc",
        "sink, source, transit",
        "5.10",
        CannotRun,
    ),
    row(
        P::Xdp,
        "programs of type XDP",
        "sink",
        "5.10",
        Replaced("the sink takes the hook tc (which takes tcx)"),
    ),
    row(
        P::Tcx,
        "tcx links",
        "sink, source, transit",
        "6.6",
        Replaced("the sink takes XDP; source and hop take a clsact filter"),
    ),
    row(
        P::Batches,
        "reading maps in batches",
        "all but collect",
        "5.6",
        Replaced("entries are read one by one, which takes more processor time"),
    ),
    row(
        P::TestRun,
        "running a program at once (BPF_PROG_RUN)",
        "sink, source",
        "5.10",
        Missing("losses at the end of a flow that falls silent"),
    ),
    row(
        P::HostWaits,
        "tp_btf/net_dev_start_xmit and skb_copy_datagram_iovec, and tcx",
        "sink --host-times",
        "6.6",
        Missing("how long packets wait in this host"),
    ),
    row(
        P::SendBufferWaits,
        "tp_btf/tcp_sendmsg_locked",
        "sink --host-times",
        "6.16",
        Missing("how long data waits in send buffers"),
    ),
    row(
        P::DatagramWaits,
        "tp_btf/sk_data_ready and sock_recv_length",
        "sink --host-times",
        "6.3",
        Missing("how long datagrams wait until applications read them"),
    ),
    row(
        P::QueueWaits,
        "tp_btf/net_dev_start_xmit",
        "transit --waits",
        "5.5",
        Missing("how long packets wait in queues behind the hop"),
    ),
    row(
        P::NicStamps,
        "XDP programs bound to a device, and iter/bpf_prog",
        "sink --nic-timestamps",
        "6.3",
        Replaced("the kernel stamps packets when the program runs"),
    ),
    row(
        P::NamespaceWalk,
        "iter/task over network namespaces",
        "sink, source, transit",
        "5.11",
        Replaced(
            "what is pinned for network namespaces that are gone stays until the host restarts",
        ),
    ),
    row(
        P::Drops,
        "tp_btf/kfree_skb",
        "postcards --drops",
        "5.5",
        Missing("what this host drops"),
    ),
    row(
        P::Passages,
        "tp_btf/net_dev_start_xmit, and stamps of packets at tc",
        "postcards --hops",
        "5.18",
        Missing("how long packets take through this host"),
    ),
    row(
        P::SocketPassages,
        "cgroup_skb/ingress",
        "postcards --hops --local",
        "5.18",
        Missing("how long packets take to this host's sockets"),
    ),
    row(
        P::QueueEpisodes,
        "tp_btf/qdisc_dequeue",
        "postcards --queue",
        "5.5",
        Missing("episodes of full queues"),
    ),
    row(
        P::QueueEntries,
        "tp_btf/qdisc_enqueue",
        "postcards --queue",
        "5.15",
        Missing("episodes of queues whose trigger is a time"),
    ),
    row(
        P::TaskWalk,
        "iter/task",
        "postcards --pods",
        "5.8",
        Missing("names of containers of sockets in other network namespaces"),
    ),
    row(
        P::OpenConnections,
        "iter/tcp",
        "tcp",
        "5.9",
        Missing("connections while they are open"),
    ),
    row(
        P::Endings,
        "tp_btf/inet_sock_set_state",
        "tcp",
        "5.5",
        Missing("connections that begin and end between two looks"),
    ),
    row(
        P::Option114,
        "sockops of a cgroup",
        "tcp --option, source",
        "5.11",
        Missing("what hops stamp into TCP option 114, and TCP in options"),
    ),
    row(
        P::AdoptedConnections,
        "iter/tcp with bpf_setsockopt",
        "tcp --option, source",
        "6.0",
        Missing("the same of connections that were there before"),
    ),
    row(
        P::Atomics,
        "atomics that fetch",
        "sink, source",
        "5.12",
        Replaced("sequence numbers are taken under a lock"),
    ),
    row(
        P::TaiClock,
        "bpf_ktime_get_tai_ns",
        "sink, source, transit",
        "6.1",
        Replaced("the monotonic clock with an offset that the daemon follows"),
    ),
    row(
        P::CoarseClock,
        "bpf_ktime_get_coarse_ns",
        "sink, source",
        "5.11",
        Replaced("the precise clock, which takes some ns more"),
    ),
    row(
        P::MtuCheck,
        "bpf_check_mtu",
        "source, transit",
        "5.12",
        Replaced("the MTU that the interface had when the program was attached"),
    ),
    row(
        P::XdpBuffers,
        "XDP on packets in several buffers",
        "sink",
        "5.18",
        Replaced("the driver hands on packets in one buffer, or the sink takes tc"),
    ),
    row(
        P::ChecksumState,
        "bpf_cast_to_kern_ctx",
        "sink, source",
        "6.2",
        Replaced("bpf_probe_read_kernel finds out whether the checksum of a packet is finished"),
    ),
    row(
        P::KernelReads,
        "bpf_probe_read_kernel",
        "transit; source before 6.2",
        "5.8",
        Missing(
            "the queues that TCP option 114 asks for, and before Linux 6.2 the checksums of packets outside tunnels, which \
             stay untagged",
        ),
    ),
];

impl KernelPart {
    /// This part's row of the table.
    pub fn facts(self) -> &'static PartFacts {
        &KERNEL_PARTS[self as usize]
    }

    pub(in crate::model) const fn bit(self) -> u64 {
        1 << self as u64
    }
}
