//! Orders to the fleet: the agent obeys those of hosts with its key, and passes each on once, to the hosts that leases connect
//! with this one.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::daemon::fleet::{OrderSockets, ReceivedOrder};
use crate::daemon::privileges::give_up_all_but;
use crate::host::fleet::KeptFleet;
use crate::host::off;
use crate::model::{FleetOrder, LeaseKey, OrderVerdict};
use crate::os::{clock, log, wait};

/// The most orders that wait for the agent's loop.
const MOST: usize = 64;
/// The listening thread looks this often whether the agent still takes orders.
const LOOK: Duration = Duration::from_secs(1);

/// The orders that other hosts send.
pub struct FleetOrders {
    key: LeaseKey,
    received: Receiver<ReceivedOrder>,
    sockets: OrderSockets,
    bpffs: Option<PathBuf>,
    /// The listening thread ends with this.
    _listens: Arc<()>,
}

impl FleetOrders {
    /// Listens from now on, by a thread without privileges: it reads what strangers send.
    pub fn start(key: LeaseKey, bpffs: Option<&Path>) -> Result<Self> {
        let listening = OrderSockets::open()?;
        let (sender, received) = sync_channel(MOST);
        let listens = Arc::new(());
        let goes_on = Arc::downgrade(&listens);
        thread::Builder::new()
            .spawn(move || {
                if give_up_all_but(&[]).is_ok() {
                    listen(&listening, key, &sender, &goes_on);
                }
            })
            .context("cannot listen to orders to the fleet")?;
        Ok(Self {
            key,
            received,
            sockets: OrderSockets::open()?,
            bpffs: bpffs.map(Path::to_owned),
            _listens: listens,
        })
    }

    pub fn has_key(&self, key: LeaseKey) -> bool {
        self.key == key
    }

    /// Obeys what came.
    pub fn turn(&self) {
        for received in self.received.try_iter() {
            if let Err(err) = self.take(&received) {
                log::error(format_args!(
                    "cannot obey an order of {}: {err:#}",
                    received.from
                ));
            }
        }
    }

    fn take(&self, received: &ReceivedOrder) -> Result<()> {
        let mut fleet = KeptFleet::read();
        let order = received.message.order;
        let why = match order.judge(fleet.last, clock::realtime_ns()) {
            OrderVerdict::Obeyed => {
                fleet.add_peers(self.bpffs.as_deref());
                fleet.last = order;
                fleet.keep()?;
                obey(order, received.from)?;
                self.sockets.answer(received, self.key);
                fleet.peers.retain(|peer| *peer != received.from);
                return pass_on(order, fleet.peers, self.key);
            }
            OrderVerdict::Known => {
                self.sockets.answer(received, self.key);
                return Ok(());
            }
            OrderVerdict::Replayed => "it is not later than the last one",
            OrderVerdict::Untimely => "it was not given within the last 30 s",
        };
        log::warning(format_args!(
            "an order to the fleet from {} is refused: {why}",
            received.from
        ));
        Ok(())
    }
}

fn obey(order: FleetOrder, from: IpAddr) -> Result<()> {
    if order.is_off {
        log::warning(format_args!("{from} orders the fleet off"));
        off::set()?;
    } else {
        log::warning(format_args!("{from} orders the fleet on"));
        off::end()?;
    }
    Ok(())
}

fn listen(
    sockets: &OrderSockets,
    key: LeaseKey,
    sender: &SyncSender<ReceivedOrder>,
    goes_on: &Weak<()>,
) {
    while goes_on.strong_count() > 0 {
        sockets.wait(LOOK);
        for received in sockets.receive(key) {
            if !received.message.is_answer {
                // Beyond the most, an order is lost, and is sent again.
                let _ = sender.try_send(received);
                wait::wake();
            }
        }
    }
}

/// The agent's loop waits for no answer.
fn pass_on(order: FleetOrder, peers: Vec<IpAddr>, key: LeaseKey) -> Result<()> {
    if peers.is_empty() {
        return Ok(());
    }
    let sockets = OrderSockets::open()?;
    let pass = move || {
        if give_up_all_but(&[]).is_ok() {
            for silent in sockets.pass_on(order, &peers, key) {
                log::warning(format_args!(
                    "{silent} does not say that it obeys the order to the fleet"
                ));
            }
        }
    };
    let begun = thread::Builder::new().spawn(pass);
    begun.map(drop).context("cannot pass the order on")
}
