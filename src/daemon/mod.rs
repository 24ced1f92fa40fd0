//! The daemons: sink, source, transit hop, postcards, TCP connections and collector, each a list of duties around its data
//! path.
//!
//! A daemon is a state (`SinkDaemon`, `SourceDaemon`, `TransitDaemon`, `PostcardsDaemon`, `TcpDaemon`, `Collector`) and a
//! list of [duties](duty). Its loop does four things: it moves what is new along the data path, gives each duty that is due
//! a turn, looks whether it is to end, and sleeps until there is something to do. A new duty is a file that implements
//! [`duty::Duty`] and a line in the list of each daemon that has it:
//!
//! ```text
//! let mut duties = Duties::default().with(KeepLeases).with(FollowClock)…;
//! let end = loop {
//!     daemon.report_events(&mut events)?;           // the data path
//!     duties.turn(&mut daemon, Instant::now());     // everything else, each in its own time
//!     if let Some(end) = daemon.end() {
//!         break end;
//!     }
//!     let mut wait = Wait::default();
//!     events.wakes(&mut wait);
//!     duties.wait(&daemon, wait);                   // for events, and for what duties ask for
//! };
//! duties.finish(&mut daemon);
//! ```
//!
//! A duty owns what it alone needs, and finds what others need too in the daemon's state. Duties of several daemons
//! (`duties`) ask for no more of the state than a trait says: [`on_host::OnHost`], [`signs::ShowsSigns`]. A duty has
//! no clock of its own: `turn` is given the time, so a test turns it with any.
//!
//! No loop turns at a fixed pace. A duty names its period, or says in `wakes` what it waits for: something to read, or a
//! time. Signals and other threads end the wait by [`crate::os::wait::wake`], and whatever ends it, each duty without a period
//! looks what is due.
//!
//! Several roles in one process are several (state, list) pairs in one loop: signals, the control socket and HTTP belong
//! to the process and not to a role, the wait is one for all that they wait for, and each role's `finish` runs at the
//! end.

pub mod agent;
mod answers;
pub mod collect;
mod collectors;
mod control;
mod duties;
pub mod duty;
pub mod fleet;
mod health;
pub mod history;
mod http;
mod leases;
mod lookups;
mod metrics_push;
mod names;
mod newcomers;
pub mod on_host;
mod own_host;
pub mod postcards;
mod privileges;
mod reload;
mod reports_to_collectors;
mod side_thread;
pub mod signs;
pub mod sink;
pub mod source;
mod state_line;
mod stdout_lines;
pub mod tcp;
pub mod transit;
mod troubles;
