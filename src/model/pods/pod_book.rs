//! All pods that are or were there of late, by address and by uid.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

use crate::model::{AddressHolders, FlowTime, PodName, PodNews, PodPeriod, SeenPod, Span};

/// How hosts begin the names of pods.
const HOSTS_PREFIX: &str = "pod/";

/// What a pod that is there has.
#[derive(Clone, Debug, Default)]
struct PresentPod {
    addresses: Vec<IpAddr>,
    digest: Option<Arc<str>>,
}

/// What the API server said, as far as it is remembered.
#[derive(Clone, Debug, Default)]
pub struct PodBook {
    by_address: HashMap<IpAddr, AddressHolders>,
    /// Also by the digests of static pods.
    by_uid: HashMap<Arc<str>, PodPeriod>,
    present: HashMap<Arc<str>, PresentPod>,
    /// The last time at which the API server said something.
    current_ns: u64,
    changed: Vec<PodPeriod>,
}

impl PodBook {
    /// The book of an earlier run, or of a history, with the last time at which it was right.
    pub fn of(periods: Vec<PodPeriod>, current_ns: u64) -> Self {
        let mut book = Self {
            current_ns,
            ..Self::default()
        };
        let mut by_address = HashMap::<IpAddr, Vec<PodPeriod>>::new();
        for period in periods {
            let is_present = period.is_open();
            match period.address {
                Some(address) => {
                    if is_present {
                        let present = book.present.entry(Arc::clone(&period.uid));
                        present.or_default().addresses.push(address);
                    }
                    by_address.entry(address).or_default().push(period);
                }
                None => {
                    if is_present {
                        book.present.entry(Arc::clone(&period.uid)).or_default();
                    }
                    book.by_uid.insert(Arc::clone(&period.uid), period);
                }
            }
        }
        let holders = by_address.into_iter();
        book.by_address = holders
            .map(|(address, periods)| (address, AddressHolders::of(periods)))
            .collect();
        book
    }

    pub fn is_empty(&self) -> bool {
        self.by_uid.is_empty()
    }

    /// The number of pods that are there.
    pub fn present(&self) -> usize {
        self.present.len()
    }

    /// The last time at which the API server said something.
    pub fn current_ns(&self) -> u64 {
        self.current_ns
    }

    /// The name of the pod that had the address at a time, if that is certain.
    pub fn at(&self, address: IpAddr, time: FlowTime) -> Option<&Arc<PodName>> {
        self.by_address.get(&address)?.at(time, self.current_ns)
    }

    /// The names of all pods that had the address in a span.
    pub fn within(&self, address: IpAddr, span: Span) -> impl Iterator<Item = &PodName> {
        let holders = self.by_address.get(&address).into_iter();
        holders.flat_map(move |holders| holders.within(span))
    }

    /// The uid in the name that a host has for a pod.
    pub fn uid_of(host_name: &str) -> Option<&str> {
        host_name.strip_prefix(HOSTS_PREFIX)
    }

    /// The name of the pod that a host calls `pod/UID`.
    pub fn called(&self, host_name: &str) -> Option<&Arc<PodName>> {
        self.by_uid
            .get(Self::uid_of(host_name)?)
            .map(|period| &period.name)
    }

    pub fn take(&mut self, news: PodNews, now_ns: u64) {
        match news {
            PodNews::Listed(pods) => self.list(pods, now_ns),
            PodNews::Seen(pod) => self.see(*pod, now_ns),
            PodNews::Gone(uid) => self.lose(&uid, now_ns),
            PodNews::Current => {}
        }
        self.current_ns = self.current_ns.max(now_ns);
    }

    /// Those that are not listed went somewhen since the last news.
    fn list(&mut self, pods: Vec<SeenPod>, now_ns: u64) {
        let listed: HashSet<&str> = pods.iter().map(|pod| &*pod.uid).collect();
        let digests: HashSet<&str> = pods
            .iter()
            .filter_map(|pod| pod.digest.as_deref())
            .collect();
        let is_gone = |uid: &Arc<str>| !listed.contains(&**uid) && !digests.contains(&**uid);
        let gone: Vec<Arc<str>> = self
            .present
            .keys()
            .filter(|uid| is_gone(uid))
            .cloned()
            .collect();
        let last_ns = self.current_ns;
        for uid in gone {
            self.lose(&uid, last_ns);
        }
        for pod in pods {
            self.see(pod, now_ns);
        }
    }

    fn see(&mut self, pod: SeenPod, now_ns: u64) {
        let uid: Arc<str> = pod.uid.into();
        let name = Arc::new(pod.name);
        let period = PodPeriod {
            address: None,
            uid: Arc::clone(&uid),
            name,
            since_ns: pod.since_ns.unwrap_or(now_ns).min(now_ns),
            until_ns: PodPeriod::OPEN,
        };
        let digest: Option<Arc<str>> = pod.digest.map(Arc::from);
        self.name(period.clone());
        if let Some(digest) = &digest {
            // An earlier run did not know whose it is.
            self.present.remove(digest);
            self.name(PodPeriod {
                uid: Arc::clone(digest),
                ..period.clone()
            });
        }
        let known = PresentPod {
            addresses: pod.addresses.clone(),
            digest,
        };
        let before = self.present.insert(Arc::clone(&uid), known);
        let before = before.unwrap_or_default().addresses;
        for address in before.iter().filter(|one| !pod.addresses.contains(one)) {
            self.end(*address, &uid, now_ns);
        }
        for address in pod.addresses {
            let holders = self.by_address.entry(address).or_default();
            let changed = holders.begin(PodPeriod {
                address: Some(address),
                ..period.clone()
            });
            self.changed.extend(changed);
        }
    }

    fn name(&mut self, period: PodPeriod) {
        match self.by_uid.get_mut(&period.uid) {
            Some(known) => self.changed.extend(known.rename(&period.name)),
            None => {
                self.changed.push(period.clone());
                self.by_uid.insert(Arc::clone(&period.uid), period);
            }
        }
    }

    fn lose(&mut self, uid: &str, now_ns: u64) {
        let Some(PresentPod { addresses, digest }) = self.present.remove(uid) else {
            return;
        };
        for address in addresses {
            self.end(address, uid, now_ns);
        }
        for uid in [Some(uid), digest.as_deref()].into_iter().flatten() {
            if let Some(known) = self.by_uid.get_mut(uid).filter(|known| known.is_open()) {
                known.until_ns = now_ns.max(known.since_ns);
                self.changed.push(known.clone());
            }
        }
    }

    fn end(&mut self, address: IpAddr, uid: &str, now_ns: u64) {
        let holders = self.by_address.get_mut(&address);
        let ended = holders.and_then(|holders| holders.end(uid, now_ns));
        self.changed.extend(ended);
    }

    /// Returns the periods that are new, or have changed, since this was called before.
    pub fn take_changed(&mut self) -> Vec<PodPeriod> {
        std::mem::take(&mut self.changed)
    }

    /// Forgets pods that went before this time.
    pub fn forget(&mut self, before_ns: u64) {
        self.by_uid.retain(|_, period| period.until_ns >= before_ns);
        self.by_address.retain(|_, holders| {
            holders.forget(before_ns);
            !holders.is_empty()
        });
    }
}
