//! A model of the form that a source gives to a flow's packets, by its lease.

use hostint::datapath::abi::{lease_way, source_counter};

use super::Encapsulation;

/// What a lease says at a packet.
#[derive(Clone, Copy, Debug)]
pub enum Lease {
    /// There is none.
    Missing,
    /// These ways are open (enum lease_way); `proved`: there was a round of probes.
    Granted { ways: u32, proved: bool },
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Undecided,
    Only(Encapsulation),
    /// Packets are counted as this.
    Untagged(source_counter),
}

/// A flow at a source.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// `None`: tunnel.
    pub configured: Option<Encapsulation>,
    pub tcp: bool,
    form: Form,
    was_tagged: bool,
}

const BEFORE: source_counter = source_counter::COUNT_SOURCE_BEGAN_BEFORE_LEASE;
const UNPROVED: source_counter = source_counter::COUNT_SOURCE_UNPROVED;
const LEFT: source_counter = source_counter::COUNT_SOURCE_LEFT;
const NO_LEASE: source_counter = source_counter::COUNT_SOURCE_NO_LEASE;

impl Flow {
    pub fn new(configured: Option<Encapsulation>, tcp: bool) -> Self {
        Self {
            configured,
            tcp,
            form: Form::Undecided,
            was_tagged: false,
        }
    }

    fn is_open(&self, ways: u32, encapsulation: Encapsulation) -> bool {
        use lease_way as way;
        let (tcp, udp) = match encapsulation {
            Encapsulation::OverTcpUdp => (way::WAY_TCP_OVER.0, way::WAY_UDP_OVER),
            Encapsulation::ExtensionUdp => (way::WAY_TCP_EXTENSION.0, way::WAY_UDP_EXTENSION),
            Encapsulation::VxlanGpe => (way::WAY_TCP_GPE.0, way::WAY_UDP_GPE),
            Encapsulation::IntMd => (0, way::WAY_UDP_INT_MD),
        };
        ways & if self.tcp { tcp } else { udp.0 } != 0
    }

    fn choose(&self, ways: u32) -> Option<Encapsulation> {
        let order = [
            self.configured,
            Some(Encapsulation::VxlanGpe),
            Some(Encapsulation::ExtensionUdp),
        ];
        let mut order = order.into_iter().flatten();
        order.find(|encapsulation| self.is_open(ways, *encapsulation))
    }

    /// The encapsulation of a packet, or the reason why it goes untagged. `syn`: a TCP connection begins with it.
    pub fn packet(&mut self, lease: Lease, syn: bool) -> Result<Encapsulation, source_counter> {
        if syn {
            self.form = Form::Undecided;
        }
        let result = match lease {
            Lease::Missing => Err(self.without_lease()),
            Lease::Granted { ways, proved } if self.tcp => self.with_lease(ways, proved, syn),
            Lease::Granted { ways, .. } => self.with_lease_for_udp(ways),
        };
        self.was_tagged |= result.is_ok();
        result
    }

    fn without_lease(&mut self) -> source_counter {
        if self.tcp && matches!(self.form, Form::Only(_)) {
            self.form = Form::Untagged(LEFT);
            return LEFT;
        }
        NO_LEASE
    }

    /// UDP has no beginning that a firewall could miss.
    fn with_lease_for_udp(&mut self, ways: u32) -> Result<Encapsulation, source_counter> {
        let closed = match self.form {
            Form::Only(_) => LEFT,
            _ => UNPROVED,
        };
        self.form = match self.form {
            Form::Only(one) if self.is_open(ways, one) => Form::Only(one),
            _ => self.choose(ways).map_or(Form::Undecided, Form::Only),
        };
        match self.form {
            Form::Only(encapsulation) => Ok(encapsulation),
            _ => Err(closed),
        }
    }

    fn with_lease(
        &mut self,
        ways: u32,
        proved: bool,
        syn: bool,
    ) -> Result<Encapsulation, source_counter> {
        self.form = match self.form {
            Form::Undecided if !syn => Form::Untagged(BEFORE),
            Form::Undecided if ways == 0 && !proved => {
                // Until it is proved what passes, the next connection may still begin.
                return Err(UNPROVED);
            }
            Form::Undecided => match self.choose(ways) {
                Some(encapsulation) => Form::Only(encapsulation),
                None if self.was_tagged => {
                    self.form = Form::Untagged(LEFT);
                    return Err(UNPROVED);
                }
                None => Form::Untagged(UNPROVED),
            },
            Form::Only(one) if !self.is_open(ways, one) => Form::Untagged(self.closed()),
            form => form,
        };
        match self.form {
            Form::Only(encapsulation) => Ok(encapsulation),
            Form::Untagged(reason) => Err(reason),
            Form::Undecided => unreachable!("the lease decides"),
        }
    }

    fn closed(&self) -> source_counter {
        if self.was_tagged { LEFT } else { UNPROVED }
    }
}
