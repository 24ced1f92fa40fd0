//! The programs that read TCP connections: loaded, attached, set, and their records read.
//!
//! Nothing of them is pinned: a daemon that ends leaves nothing behind. They change no packet and no socket, unless
//! option 114 is asked for; then segments carry it for as long as the daemon runs.

use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use libbpf_rs::skel::SkelBuilder;
use libbpf_rs::{Link, MapHandle, OpenObject, ProgramMut};

use super::tcp_record::RecordUnits;
use crate::datapath::abi::tcp_walk_object::{TcpWalkSkel, TcpWalkSkelBuilder};
use crate::datapath::abi::{
    address_pair, counter, read_from, tcp_counter, tcp_record, tcp_record_kind, tcp_setting,
    tcp_settings,
};
use crate::datapath::host::counters::packets;
use crate::datapath::kernel::iterator;
use crate::datapath::kernel::load::{attach, attach_to_cgroup, load_object, without_refused};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::probe::Features;
use crate::datapath::kernel::token_rate::token_rate_of;
use crate::datapath::lease::leases::key_of;
use crate::datapath::sink::event_ring::EventRing;
use crate::datapath::watch::{Watchlist, room_for, size_watchlist, watchlist_of};
use crate::model::{
    AddressPair, KernelPart, KernelParts, OptionCounts, PartsFound, TcpSample, WatchRule,
};
use crate::os::{clock, log, tcp_sockets};

/// Bytes of one read: the kernel gives no more at a time.
const READ_BYTES: usize = 64 * 1024;

/// What the programs are to do.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TcpPlan {
    /// The inode of the network namespace whose connections are watched.
    pub netns: u32,
    /// The id of the cgroup whose sockets are watched, with those below it; `None`: all.
    pub cgroup: Option<u64>,
    /// The watchlist; empty: all connections.
    pub rules: Vec<WatchRule>,
    /// The most endings that are reported in a second; 0: no limit.
    pub max_endings: u64,
    /// `None`: no segment carries option 114.
    pub option: Option<OptionPlan>,
}

/// How option 114 is sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OptionPlan {
    /// The folder of the cgroup whose sockets send it, if they are watched.
    pub cgroup: PathBuf,
    /// To all peers, not only to those whose leases say that they take it.
    pub to_all: bool,
    /// The least time between two requests of a connection.
    pub interval: Duration,
}

/// Counts of connections since the programs were attached.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TcpCounts {
    pub begun: u64,
    pub ended: u64,
    pub ends_limited: u64,
    pub ends_lost: u64,
    pub failed: u64,
    pub option: OptionCounts,
}

/// The programs, attached.
pub struct TcpPrograms {
    settings: Map<u32, tcp_settings>,
    counters: Map<u32, counter>,
    list: Watchlist,
    endings: MapHandle,
    /// `None` if the kernel does not show the connections that are open.
    walk: Option<OwnedFd>,
    tick_ns: u64,
    peers: Map<address_pair, u64>,
    found: PartsFound,
    /// Endings are seen for as long as these live, and option 114 is sent.
    _links: Vec<Link>,
}

impl TcpPrograms {
    /// Loads the programs, sets them, and attaches them. Those that the kernel refuses are left out.
    ///
    /// # Errors
    /// If the kernel shows neither connections that are open nor those that end.
    pub fn attach(max_connections: u32, plan: &TcpPlan) -> io::Result<Self> {
        let wanted = wanted(plan.option.is_some());
        let given = wanted.without(lacking());
        for row in wanted.without(given).iter() {
            log::warning(format_args!(
                "{}: programs that see connections have no storage of sockets, which came with Linux 5.11",
                row.sentence()
            ));
        }
        let (mut programs, refused) = without_refused(&PROGRAMS, |refused| {
            Self::attach_parts(max_connections, plan, given.without(refused))
        })?;
        let refused = refused.and(wanted.without(given));
        if SEEING.iter().all(|part| refused.contains(*part)) {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the kernel lacks or refuses iter/tcp and tp_btf/inet_sock_set_state, one of which it takes to see \
                 connections (see hostint doctor)",
            ));
        }
        programs.found = PartsFound {
            tried: wanted,
            refused,
        };
        Ok(programs)
    }

    fn attach_parts(max_connections: u32, plan: &TcpPlan, parts: KernelParts) -> io::Result<Self> {
        let tick_ns = clock::tick_ns()?;
        let mut object = MaybeUninit::uninit();
        let skel = load(&mut object, max_connections, &plan.rules, parts)?;
        let mut links = Vec::new();
        let (maps, programs) = (&skel.maps, &skel.progs);
        if parts.contains(KernelPart::Endings) {
            links.push(attach(&programs.see_connection)?);
        }
        let mut walk = None;
        if parts.contains(KernelPart::OpenConnections) {
            walk = Some(iterator::link(&programs.walk_connections)?);
        }
        let mut attached = Self {
            settings: Map::of(&maps.tcp_settings)?,
            counters: Map::of(&maps.tcp_counters)?,
            list: watchlist_of!(maps),
            endings: MapHandle::try_from(&maps.tcp_endings).map_err(io::Error::other)?,
            walk,
            tick_ns,
            peers: Map::of(&maps.tcp_option_peers)?,
            found: PartsFound::default(),
            _links: Vec::new(),
        };
        attached.set(plan)?;
        if let Some(option) = &plan.option {
            if parts.contains(KernelPart::Option114) {
                links.push(attach_to_cgroup(&programs.mind_option, &option.cgroup)?);
            }
            if parts.contains(KernelPart::AdoptedConnections) {
                adopt(&programs.adopt_connections)?;
            }
        }
        attached._links = links;
        Ok(attached)
    }

    /// What the kernel gives of what was asked for.
    pub fn found(&self) -> PartsFound {
        self.found
    }

    /// Changes what the programs do.
    ///
    /// # Errors
    /// There is no room for the rules. Those in use stay.
    pub fn set(&self, plan: &TcpPlan) -> io::Result<()> {
        self.list.replace(&plan.rules)?;
        self.settings.set(&0, &settings_of(plan)?)
    }

    /// Lets option 114 be sent to the destinations of these pairs until then (monotonic clock).
    pub fn allow_option(&self, pairs: &[AddressPair], until_ns: u64) -> io::Result<()> {
        for pair in pairs {
            self.peers.set(&key_of(pair), &until_ns)?;
        }
        Ok(())
    }

    /// The ring of connections that ended.
    pub fn endings(&self) -> io::Result<EventRing> {
        EventRing::new(MapHandle::try_from(&self.endings).map_err(io::Error::other)?)
    }

    /// Visits all watched connections of the network namespace of this thread.
    pub fn walk(&self, mut visit: impl FnMut(TcpSample)) -> io::Result<()> {
        const RECORD: usize = size_of::<tcp_record>();
        let units = self.units();
        let Some(walk) = self.walk.as_ref().filter(|_| tcp_sockets::are_there()) else {
            return Ok(());
        };
        let mut file = iterator::begin(walk)?;
        let mut bytes = vec![0; READ_BYTES];
        let mut kept = 0;
        loop {
            let len = match file.read(&mut bytes[kept..]) {
                // The kernel looked at a million sockets that are not watched: the next call goes on.
                Err(err) if err.kind() == io::ErrorKind::WouldBlock => continue,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
                len => len?,
            };
            if len == 0 {
                return Ok(());
            }
            let end = kept + len;
            let mut at = 0;
            while let Some(record) = read_from::<tcp_record>(&bytes[at..end]) {
                visit(units.sample(&record));
                at += RECORD;
            }
            bytes.copy_within(at..end, 0);
            kept = end - at;
        }
    }

    /// Reads the connections that ended since the last time.
    pub fn read_endings(
        &self,
        ring: &mut EventRing,
        mut visit: impl FnMut(TcpSample),
    ) -> io::Result<()> {
        let units = self.units();
        ring.drain(|bytes| {
            let record = read_from::<tcp_record>(bytes);
            let ended = record.filter(|one| one.kind == tcp_record_kind::TCP_ENDED.0);
            if let Some(record) = ended {
                visit(units.sample(&record));
            }
        })
    }

    /// The connections that began so far; `None` if the kernel does not say that one begins.
    pub fn begun(&self) -> io::Result<Option<u64>> {
        if self.found.refused.contains(KernelPart::Endings) {
            return Ok(None);
        }
        packets(&self.counters, tcp_counter::COUNT_TCP_BEGUN.0).map(Some)
    }

    pub fn counts(&self) -> io::Result<TcpCounts> {
        use tcp_counter as C;
        let count = |index: C| packets(&self.counters, index.0);
        Ok(TcpCounts {
            begun: count(C::COUNT_TCP_BEGUN)?,
            ended: count(C::COUNT_TCP_ENDED)?,
            ends_limited: count(C::COUNT_TCP_END_LIMITED)?,
            ends_lost: count(C::COUNT_TCP_END_LOST)?,
            failed: count(C::COUNT_TCP_FAILED)?,
            option: OptionCounts {
                requests: count(C::COUNT_TCP_REQUESTS)?,
                samples: count(C::COUNT_TCP_TAKEN)?,
                echoes: count(C::COUNT_TCP_ECHOES)?,
                no_room: count(C::COUNT_TCP_NO_ROOM)?,
                off: count(C::COUNT_TCP_OPTION_OFF)?,
            },
        })
    }

    fn units(&self) -> RecordUnits {
        RecordUnits {
            tick_ns: self.tick_ns,
            wall_offset: clock::wall_offset(),
        }
    }
}

/// Loads the programs and releases them, to find out what this kernel gives.
///
/// # Errors
/// If it takes none of them.
pub fn try_to_load() -> io::Result<PartsFound> {
    let tried = wanted(true);
    let given = tried.without(lacking());
    let ((), refused) = without_refused(&PROGRAMS, |refused| {
        load(&mut MaybeUninit::uninit(), 1, &[], given.without(refused)).map(drop)
    })?;
    Ok(PartsFound {
        tried,
        refused: refused.and(tried.without(given)),
    })
}

/// The programs, each of which can be left out.
const PROGRAMS: [(&str, KernelPart); 4] = [
    ("walk_connections", KernelPart::OpenConnections),
    ("see_connection", KernelPart::Endings),
    ("mind_option", KernelPart::Option114),
    ("adopt_connections", KernelPart::AdoptedConnections),
];

/// Without both of these nothing is seen.
const SEEING: [KernelPart; 2] = [KernelPart::OpenConnections, KernelPart::Endings];

fn wanted(option: bool) -> KernelParts {
    let parts = PROGRAMS.iter().map(|(_, part)| *part);
    parts
        .filter(|part| option || SEEING.contains(part))
        .collect()
}

/// The parts that the kernel lacks as its programs that see connections could not read what the others note.
fn lacking() -> KernelParts {
    let parts = [KernelPart::Option114, KernelPart::AdoptedConnections];
    let has_storage = Features::probe().socket_storage;
    parts.into_iter().filter(|_| !has_storage).collect()
}

/// Connections that are there already send option 114, too, from now on.
fn adopt(program: &ProgramMut<'_>) -> io::Result<()> {
    let mut file = iterator::begin(&iterator::link(program)?)?;
    file.read_to_end(&mut Vec::new()).map(drop)
}

fn load<'o>(
    object: &'o mut MaybeUninit<OpenObject>,
    max_connections: u32,
    rules: &[WatchRule],
    parts: KernelParts,
) -> io::Result<TcpWalkSkel<'o>> {
    let option = parts.contains(KernelPart::Option114);
    let mut open = TcpWalkSkelBuilder::default()
        .open(object)
        .map_err(io::Error::other)?;
    open.maps
        .tcp_begun
        .set_max_entries(max_connections)
        .map_err(io::Error::other)?;
    size_watchlist!(open.maps, rules);
    if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
        constants.reads_options = option;
    }
    let programs = &mut open.progs;
    for (program, part) in [
        (&mut programs.walk_connections, KernelPart::OpenConnections),
        (&mut programs.see_connection, KernelPart::Endings),
        (&mut programs.mind_option, KernelPart::Option114),
        (
            &mut programs.adopt_connections,
            KernelPart::AdoptedConnections,
        ),
    ] {
        program.set_autoload(parts.contains(part));
    }
    if !option {
        for map in [
            &mut open.maps.tcp_option_peers,
            &mut open.maps.tcp_option_pairs,
        ] {
            map.set_max_entries(1).map_err(io::Error::other)?;
        }
    }
    load_object(open)
}

fn settings_of(plan: &TcpPlan) -> io::Result<tcp_settings> {
    let (ending_interval_ns, ending_burst_ns) = token_rate_of(plan.max_endings)?;
    let option = plan.option.as_ref();
    let flags = [
        (tcp_setting::TCP_BY_RULES, !plan.rules.is_empty()),
        (
            tcp_setting::TCP_ASK_ALL,
            option.is_some_and(|one| one.to_all),
        ),
    ];
    let set = flags.into_iter().filter(|(_, is_set)| *is_set);
    let interval_ns = option.map_or(0, |one| one.interval.as_nanos());
    Ok(tcp_settings {
        cgroup: plan.cgroup.unwrap_or_default(),
        ending_interval_ns,
        ending_burst_ns,
        netns: plan.netns,
        flags: set.fold(0, |all, (flag, _)| all | flag.0),
        ask_interval_ns: u64::try_from(interval_ns).unwrap_or(u64::MAX),
    })
}
