//! A flow, as the schema has it.

use std::net::IpAddr;

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub struct Flow {
    #[prost(bytes = "vec", tag = "1")]
    pub src: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub dst: Vec<u8>,
    #[prost(uint32, tag = "3")]
    pub sport: u32,
    #[prost(uint32, tag = "4")]
    pub dport: u32,
    #[prost(uint32, tag = "5")]
    pub protocol: u32,
    #[prost(uint32, tag = "6")]
    pub outer_vlan: u32,
    #[prost(uint32, tag = "7")]
    pub vlan: u32,
}

/// The 4 or 16 bytes of an address.
pub(super) fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}
