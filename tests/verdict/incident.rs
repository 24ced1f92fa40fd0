//! An incident: what it does to an invented network in each slot, and what should be said of it.

use hostint_testing::invented::{Draws, Harm, InventedCell, InventedNetwork, SLOT_S, Shape, WAYS};

use super::expected::Expected;
use super::figures::{Figures, Line};
use super::subjects;

/// The slot in which an incident begins, and by how many seconds it is later than the slot.
pub const BEGIN: u64 = 150;
const LATER_S: f64 = 4.0;

/// Whom it befalls. What a kind of incident does not need is 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subject {
    pub host: usize,
    pub other_host: usize,
    pub rack: usize,
    pub other_rack: usize,
    pub way: usize,
    pub class: Option<&'static str>,
}

pub struct Incident {
    pub line: Line,
    pub subject: Subject,
    pub end: u64,
    pub expected: Expected,
}

impl Incident {
    /// A network, and the incident in it.
    pub fn new(line: Line, seed: u64) -> (InventedNetwork, Self) {
        let mut network = InventedNetwork::new(Shape {
            hosts: line.hosts,
            racks: line.racks,
            seed,
            flows: line.flows,
            clocks: line.clocks,
        });
        let mut draws = Draws::seeded(seed ^ 0xbad);
        let subject = subject(&line, &network, &mut draws);
        let host = &mut network.hosts[subject.host];
        host.reports_drops = !line.figures.has("hidden");
        if line.kind == "coverage" {
            host.reports_coverage = true;
        }
        if line.kind.starts_with("cut") {
            // Of one direction alone, a sink that was stopped would look the same.
            (network.hosts.iter_mut()).for_each(|host| host.reports_coverage = true);
        }
        let host = &mut network.hosts[subject.host];
        if line.kind.starts_with("clock") || line.kind == "slew" {
            host.clock_error_ns = host.clock_error_ns.min(10_000);
            host.clock_known = true;
        }
        let expected = Expected::of(&line, &subject);
        let end = BEGIN + line.figures.or("for", 60.0) as u64;
        let incident = Self {
            line,
            subject,
            end,
            expected,
        };
        (network, incident)
    }

    /// Seconds of the run at which it begins.
    pub fn begins_s(&self) -> f64 {
        (BEGIN * SLOT_S) as f64 + LATER_S
    }

    /// The share of a slot in which it is on, and how strong it is then.
    fn on(&self, slot: u64) -> f64 {
        const LOOKS: u64 = 100;
        let figures = &self.line.figures;
        let (begins, mut ends) = (self.begins_s(), (self.end * SLOT_S) as f64);
        if self.line.kind == "restart" {
            // It is back while its last slot lasts.
            ends -= 1.0;
        }
        let is_on = |look: &u64| {
            let at = (slot * SLOT_S) as f64 + (*look as f64 + 0.5) * SLOT_S as f64 / LOOKS as f64;
            let on = figures.or("on", 1.0);
            let period = on + figures.or("off", 0.0);
            at >= begins && at < ends && (at - begins) % period < on
        };
        let share = (0..LOOKS).filter(is_on).count() as f64 / LOOKS as f64;
        match figures.get("ramp") {
            Some(ramp) if slot >= BEGIN => share * ((slot - BEGIN + 1) as f64 / ramp).min(1.0),
            _ => share,
        }
    }

    pub fn harm(&self, network: &InventedNetwork, slot: u64) -> Harm {
        let mut harm = Harm::none(network);
        self.clock(&mut harm, slot);
        if self.line.kind == "restart" {
            harm.hosts[self.subject.host].restarted = slot + 1 == self.end;
        }
        let on = self.on(slot);
        if on > 0.0 {
            let blow = Blow {
                network,
                figures: &self.line.figures,
                subject: self.subject,
                on,
            };
            blow.strike(self.line.kind, &mut harm);
        }
        harm
    }

    /// After the end the clock stays as it is, and the collector knows it.
    fn clock(&self, harm: &mut Harm, slot: u64) {
        if slot < BEGIN {
            return;
        }
        let lasted_s = ((slot.min(self.end) - BEGIN) * SLOT_S) as f64;
        let figures = &self.line.figures;
        let ns = match self.line.kind {
            "clock" | "clock-known" => figures.or("step", 0.0),
            "slew" => figures.or("rate", 0.0) * lasted_s,
            _ => return,
        };
        let host = &mut harm.hosts[self.subject.host];
        host.clock_ns = ns as i64;
        if slot >= self.end || self.line.kind == "clock-known" {
            host.clock_known_ns = host.clock_ns;
            host.clock_set = self.line.kind == "clock-known" && slot == BEGIN;
        }
    }
}

fn subject(line: &Line, network: &InventedNetwork, draws: &mut Draws) -> Subject {
    let mut subject = Subject {
        host: subjects::host(network, draws),
        rack: subjects::rack(network, draws),
        way: draws.below(WAYS),
        class: Some(line.figures.word("which").unwrap_or("storage")),
        ..Subject::default()
    };
    match line.kind {
        "way-out" | "way-in" => {
            (subject.rack, subject.way) = subjects::way(network, line.kind == "way-out", draws);
        }
        "longer" | "between" => {
            (subject.rack, subject.other_rack) = subjects::racks(network, draws);
        }
        "pair" | "cut-pair" => (subject.host, subject.other_host) = subjects::pair(network, draws),
        "class-in" | "class-out" => {
            let is_out = line.kind == "class-out";
            (subject.host, subject.class) = subjects::class_at(network, is_out, draws);
        }
        "two" => {
            let own = network.hosts[subject.host].rack;
            while subject.rack == own {
                subject.rack = subjects::rack(network, draws);
            }
        }
        _ => {}
    }
    subject
}

/// What an incident does in one slot.
struct Blow<'a> {
    network: &'a InventedNetwork,
    figures: &'a Figures,
    subject: Subject,
    on: f64,
}

impl Blow<'_> {
    fn strike(&self, kind: &str, harm: &mut Harm) {
        let (network, subject) = (self.network, self.subject);
        let (host, rack) = (subject.host, subject.rack);
        let ways = 0..WAYS;
        match kind {
            "way-out" => self.links([network.rack_out(rack, subject.way)], harm),
            "way-in" => self.links([network.rack_in(rack, subject.way)], harm),
            "host-in" | "drops-in" => self.links([network.host_in(host)], harm),
            "host-out" | "drops-out" | "queue" => self.links([network.host_out(host)], harm),
            "rack-out" => self.links(ways.map(|way| network.rack_out(rack, way)), harm),
            "rack-in" => self.links(ways.map(|way| network.rack_in(rack, way)), harm),
            "spine" => {
                let racks = 0..network.shape.racks;
                self.links(racks.map(|rack| network.rack_out(rack, subject.way)), harm);
            }
            "two" => {
                self.links([network.host_in(host)], harm);
                let loss = self.figures.or("other", 0.0) * self.on;
                for way in ways {
                    harm.link_loss[network.rack_out(rack, way)] = loss;
                }
            }
            _ => self.strike_cells(kind, harm),
        }
        self.strike_host(kind, harm);
    }

    fn strike_cells(&self, kind: &str, harm: &mut Harm) {
        let (network, subject) = (self.network, self.subject);
        let host = subject.host;
        let rack = |host: usize| network.hosts[host].rack;
        let zone = |host: usize| network.hosts[host].zone;
        let is_in = |cell: &InventedCell| match kind {
            "half-out" => rack(cell.source) == subject.rack && network.is_far(cell),
            "half-in" => cell.sink == host,
            "zone-out" => {
                zone(cell.source) == subject.rack / 2 && zone(cell.sink) != subject.rack / 2
            }
            "zone-in" => {
                zone(cell.sink) == subject.rack / 2 && zone(cell.source) != subject.rack / 2
            }
            "everywhere" => network.is_far(cell),
            "at-all" => true,
            "class" => cell.class == subject.class,
            "class-in" => cell.class == subject.class && cell.sink == host,
            "class-out" => cell.class == subject.class && cell.source == host,
            "cut-host" => [cell.source, cell.sink].contains(&host),
            "cut-rack" => (rack(cell.source) == subject.rack) != (rack(cell.sink) == subject.rack),
            "cut-pair" => [(cell.source, cell.sink), (cell.sink, cell.source)]
                .contains(&(host, subject.other_host)),
            "pair" => (cell.source, cell.sink) == (host, subject.other_host),
            "longer" | "between" => {
                (rack(cell.source), rack(cell.sink)) == (subject.rack, subject.other_rack)
            }
            _ => false,
        };
        for at in network.cells_that(is_in) {
            harm.cut[at] = kind.starts_with("cut");
            harm.loss[at] = self.figures.or("loss", 0.0) * self.on;
            harm.wait[at] = self.wait();
            harm.longer_ns[at] = self.figures.or("shift", 0.0) as i64;
            if kind.starts_with("half") {
                // Each second part of flows goes over one of two links.
                harm.lossy_parts[at] = 0xaaaa;
            }
        }
    }

    fn strike_host(&self, kind: &str, harm: &mut Harm) {
        let (on, figures, host) = (self.on, self.figures, self.subject.host);
        let struck = &mut harm.hosts[host];
        struck.other_drops[1] = (figures.or("other-drops", 0.0) * on) as u64;
        match kind {
            "drops-in" => struck.own_drops[1] = figures.or("seen", 1.0),
            "drops-out" => struck.own_drops[0] = figures.or("seen", 1.0),
            "queue" => struck.queue_ns = self.wait().0 * self.wait().1,
            "reads" => struck.read_ns = figures.or("read", 0.0) * on,
            "answers" => struck.answer_ns = figures.or("answer", 0.0) * on,
            "receiver" => struck.receiver_limited = figures.or("share", 0.0) * on,
            "coverage" => struck.uncovered = figures.or("less", 0.0) * on,
            "silent" => struck.silent = true,
            // In a slot that has a part with the host there are reports of that part.
            "restart" if figures.get("loss").is_some() => {}
            "gone" | "restart" => struck.gone = on >= 1.0,
            "collector" => harm.reports_lost = figures.or("lost", 0.0) * on,
            _ => {}
        }
        let (mut into, mut out) = (1.0, 1.0);
        match kind {
            "gone" => (into, out) = (1.0 - on, 1.0 - on),
            "restart" if figures.get("loss").is_some() => out = 1.0 - on,
            "restart" => (into, out) = (1.0 - on, 1.0 - on),
            "surge" => into = 1.0 + (figures.or("times", 1.0) - 1.0) * on,
            "reads" => out = 0.4,
            "receiver" => into = 0.5,
            "answers" => (into, out) = (figures.or("traffic", 1.0), figures.or("traffic", 1.0)),
            _ => {}
        }
        for (at, cell) in self.network.cells.iter().enumerate() {
            if cell.sink == host {
                harm.traffic[at] *= into;
                if kind == "restart" {
                    harm.loss[at] = figures.or("loss", 0.0) * on;
                }
            }
            if cell.source == host {
                harm.traffic[at] *= out;
            }
        }
    }

    fn links(&self, links: impl IntoIterator<Item = usize>, harm: &mut Harm) {
        for link in links {
            harm.link_loss[link] = self.figures.or("loss", 0.0) * self.on;
            harm.link_wait[link] = self.wait();
        }
    }

    fn wait(&self) -> (f64, f64) {
        (
            self.figures.or("slow", 0.0) * self.on,
            self.figures.or("wait", 0.0),
        )
    }
}
