//! The marks of packets with INT.

use std::fmt;

use clap::Args;

use super::heading::WIRE_FORMAT;
use super::mistake::{Fault, fault};

/// The default UDP port that announces extension-udp, the same as Host-INT's.
pub const EXTENSION_PORT: u16 = 33122;

/// Options for how packets with INT are known from others, which sink, source and transit hop share.
#[derive(Args, Clone, Debug, Default)]
pub struct MarkOptions {
    /// DSCP value that marks over-tcp-udp packets [default: 0x01]
    #[arg(long, help_heading = WIRE_FORMAT, value_name = "VALUE", value_parser = parse_dscp)]
    pub dscp_value: Option<u8>,

    /// DSCP bits that belong to the mark [default: 0x01]
    #[arg(long, help_heading = WIRE_FORMAT, value_name = "MASK", value_parser = parse_dscp)]
    pub dscp_mask: Option<u8>,

    /// UDP destination port of extension-udp packets [default: 33122]
    #[arg(long, help_heading = WIRE_FORMAT, value_name = "PORT")]
    pub extension_port: Option<u16>,
}

/// The option for how packets in INT-MD are known from others, which sink, source and transit hop share.
#[derive(Args, Clone, Debug, Default)]
pub struct IntDscpOption {
    /// DSCP value that marks int-md packets, and of which bits if not of all: 0x17 or 0x01/0x01
    #[arg(long, help_heading = WIRE_FORMAT, value_name = "VALUE[/MASK]")]
    pub int_dscp: Option<String>,
}

impl IntDscpOption {
    /// The mark, if it is given and right; else there is a fault.
    pub(super) fn check(&self, faults: &mut Vec<Fault>) -> Option<DscpMark> {
        let parsed = self.int_dscp.as_deref().map(parse_mark)?;
        let mark = parsed.map_err(|why| faults.push(fault(&["int-dscp"], why)));
        mark.ok()
    }
}

impl MarkOptions {
    /// The mark that the value and the mask make; faults name the wrong ones, and a wrong port.
    pub(super) fn check(&self, faults: &mut Vec<Fault>) -> DscpMark {
        if self.extension_port == Some(0) {
            faults.push(fault(
                &["extension-port"],
                "extension-udp needs a port other than 0",
            ));
        }
        let (value, mask) = (self.dscp_value, self.dscp_mask);
        DscpMark::new(value.unwrap_or(0x01), mask.unwrap_or(0x01)).unwrap_or_else(|bad| {
            let keys: &[_] = match bad {
                BadMark::TooWide if value.is_some_and(|value| value > 0x3f) => &["dscp-value"],
                BadMark::TooWide | BadMark::EmptyMask => &["dscp-mask"],
                BadMark::OutsideMask => &["dscp-value", "dscp-mask"],
                BadMark::Unmarked => &["dscp-value"],
            };
            faults.push(fault(keys, bad.to_string()));
            DscpMark::DEFAULT
        })
    }

    pub(super) fn extension_port(&self) -> u16 {
        self.extension_port.unwrap_or(EXTENSION_PORT)
    }
}

/// The DSCP bits that mark packets which may carry INT, and their value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DscpMark {
    value: u8,
    mask: u8,
}

/// Why a value and a mask make no usable mark.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BadMark {
    TooWide,
    EmptyMask,
    OutsideMask,
    Unmarked,
}

impl fmt::Display for BadMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooWide => "DSCP value and mask have 6 bits: at most 0x3f",
            Self::EmptyMask => "a DSCP mask of 0 would mark every packet",
            Self::OutsideMask => "the DSCP value has bits outside the mask",
            Self::Unmarked => "a DSCP value of 0 would mark ordinary traffic",
        })
    }
}

impl std::error::Error for BadMark {}

impl DscpMark {
    /// Host-INT's default mark.
    pub const DEFAULT: Self = Self {
        value: 0x01,
        mask: 0x01,
    };

    /// # Errors
    /// If the mark could not distinguish marked packets from others.
    pub fn new(value: u8, mask: u8) -> Result<Self, BadMark> {
        if value > 0x3f || mask > 0x3f {
            Err(BadMark::TooWide)
        } else if mask == 0 {
            Err(BadMark::EmptyMask)
        } else if value & !mask != 0 {
            Err(BadMark::OutsideMask)
        } else if value == 0 {
            Err(BadMark::Unmarked)
        } else {
            Ok(Self { value, mask })
        }
    }

    /// The value, shifted to its place in the IPv4 ToS byte.
    pub fn tos_value(self) -> u8 {
        self.value << 2
    }

    /// The mask, shifted to its place in the IPv4 ToS byte.
    pub fn tos_mask(self) -> u8 {
        self.mask << 2
    }
}

/// A value, which all six bits must have, or a value and a mask.
fn parse_mark(text: &str) -> Result<DscpMark, String> {
    let (value, mask) = text.split_once('/').unwrap_or((text, "0x3f"));
    DscpMark::new(parse_dscp(value)?, parse_dscp(mask)?).map_err(|bad| bad.to_string())
}

/// Parses `0x01` or `1`.
pub(super) fn parse_dscp(text: &str) -> Result<u8, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u8::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "not a number from 0x00 to 0xff (write for instance 0x01)".to_owned())
}
