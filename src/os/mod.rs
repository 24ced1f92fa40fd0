//! The operating system: clocks, sockets, interfaces, signals, privileges, the log and the service manager.

pub mod cgroup;
pub mod clock;
pub mod ethtool;
pub mod hostname;
pub mod icmp;
pub mod kallsyms;
pub mod kernel;
pub mod kernel_counters;
pub mod line_file;
pub mod local_socket;
pub mod log;
pub mod netdev;
pub mod netlink_events;
mod netlink_notices;
pub mod netns;
pub mod nftables;
pub mod notify;
pub mod privileges;
pub mod probe_sockets;
pub mod resolve;
pub mod route_events;
pub mod rtnetlink;
pub mod screen_signals;
pub mod signals;
pub mod udp_ports;
