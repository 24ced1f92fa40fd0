//! The rules by which a sink reports a flow, in plain Rust, fast enough to simulate a network.
//!
//! tests/report/sizing.rs compares the losses with the model that the kernel programs are compared with.

/// As many numbers can be told apart, the newest one included.
const WINDOW: u64 = 256;

/// What hostint sink is told.
#[derive(Clone, Debug)]
pub struct Rules {
    pub report_period_ns: u64,
    pub bucket_hold_ns: u64,
    pub loss_timeout_ns: u64,
    /// Where each edge between buckets is crossed downwards, and upwards.
    edges: Vec<(i64, i64)>,
    /// A flow pays as much for each report, with its own bytes.
    pub report_bytes: u64,
}

impl Rules {
    /// The defaults, with so many collectors.
    pub fn new(collectors: u64) -> Self {
        let edges = [5, 10, 20, 40, 60, 120].map(|us: i64| us * 1000);
        Self {
            report_period_ns: 2_000_000_000,
            bucket_hold_ns: 100_000_000,
            loss_timeout_ns: 200_000_000,
            edges: edges.map(|edge| (edge - edge / 8, edge + edge / 8)).into(),
            report_bytes: 256 * collectors,
        }
    }

    fn bucket(&self, latency_ns: i64, from: usize) -> usize {
        let reached = |(at, (down, up)): (usize, &(i64, i64))| {
            let threshold = if at < from { down } else { up };
            latency_ns >= *threshold
        };
        self.edges
            .iter()
            .enumerate()
            .filter(|e| reached(*e))
            .count()
    }
}

/// Reports that a packet, or a moment without one, brought.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Told {
    pub latency: u64,
    pub losses: u64,
    /// Numbers that the report of losses is about.
    pub lost: u64,
}

/// What a sink knows of a flow.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    head: u64,
    smooth_ns: i64,
    bucket: usize,
    bucket_ns: u64,
    report_ns: u64,
    announced: bool,
    reports: u64,
    earned: u64,
    fresh: Vec<u64>,
    aging: Vec<u64>,
    period_ns: Option<u64>,
    lost: u64,
}

impl Flow {
    /// A flow that was reported before, some time ago.
    pub fn announced(latency_ns: i64, report_ns: u64, rules: &Rules) -> Self {
        Self {
            smooth_ns: latency_ns,
            bucket: rules.bucket(latency_ns, 0),
            report_ns,
            announced: true,
            earned: u64::MAX / 2,
            head: 1,
            ..Self::default()
        }
    }

    fn can_pay(&self, rules: &Rules) -> bool {
        (self.reports + 1) * rules.report_bytes <= self.earned
    }

    /// A packet that came, and before it so many that did not.
    pub fn packet(
        &mut self,
        rules: &Rules,
        now: u64,
        latency_ns: i64,
        bytes: u64,
        missing: u64,
    ) -> Told {
        let first = self.head == 0;
        let before = self.period_ns;
        self.look_at_clock(rules, now);
        if missing > 0 {
            self.period_ns.get_or_insert(now);
            self.fresh.extend(self.head + 1..=self.head + missing);
        }
        self.head += missing + 1;
        let head = self.head;
        for waiting in [&mut self.fresh, &mut self.aging] {
            let all = waiting.len();
            waiting.retain(|number| number + WINDOW > head);
            self.lost += (all - waiting.len()) as u64;
        }
        self.smooth_ns = if first {
            latency_ns
        } else {
            self.smooth_ns + ((latency_ns - self.smooth_ns) >> 3)
        };
        self.earned += bytes;
        let mut told = self.losses(rules, before);
        told.latency = u64::from(self.is_news(rules, now));
        told
    }

    /// The daemon looks at a flow that may have fallen silent.
    pub fn sweep(&mut self, rules: &Rules, now: u64) -> Told {
        let before = self.period_ns;
        self.look_at_clock(rules, now);
        self.losses(rules, before)
    }

    fn look_at_clock(&mut self, rules: &Rules, now: u64) {
        if self
            .period_ns
            .is_some_and(|began| now >= began + rules.loss_timeout_ns)
        {
            self.lost += self.aging.len() as u64;
            self.aging = std::mem::take(&mut self.fresh);
            self.period_ns = (!self.aging.is_empty()).then_some(now);
        }
    }

    /// Losses are told when a loss period ends.
    fn losses(&mut self, rules: &Rules, period_before: Option<u64>) -> Told {
        let ended = period_before.is_some() && self.period_ns != period_before;
        if !ended || self.lost == 0 || !self.can_pay(rules) {
            return Told::default();
        }
        self.reports += 1;
        Told {
            losses: 1,
            lost: std::mem::take(&mut self.lost),
            ..Told::default()
        }
    }

    fn is_news(&mut self, rules: &Rules, now: u64) -> bool {
        if !self.can_pay(rules) {
            return false;
        }
        let bucket = rules.bucket(self.smooth_ns, self.bucket);
        let moved = bucket != self.bucket && now >= self.bucket_ns + rules.bucket_hold_ns;
        if !self.announced || moved {
            self.bucket = bucket;
            self.bucket_ns = now;
        } else if now < self.report_ns + rules.report_period_ns {
            return false;
        }
        self.announced = true;
        self.report_ns = now;
        self.reports += 1;
        true
    }
}
