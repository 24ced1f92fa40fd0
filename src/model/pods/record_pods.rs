//! The pods that a report is about.

use crate::model::{
    Arrival, Body, FlowTime, PacketPods, PodBook, PodName, Record, RecordPod, Report,
};

impl Report {
    /// The addresses and uids of the report that were those of pods when it came, each with the name of its pod.
    pub fn pods(&self, arrival: Option<Arrival>, book: &PodBook) -> Vec<RecordPod> {
        if book.is_empty() {
            return Vec::new();
        }
        let body = &self.observation.body;
        let inner = match body {
            Body::Packet(report) => report.inner_flow(),
            _ => None,
        };
        let told: Option<&PacketPods> = match body {
            Body::HostDrop(report) => Some(&report.drop.pods),
            Body::FlowPassage(report) => Some(&report.hop.pods),
            _ => None,
        };
        let time = FlowTime::at(arrival.map_or(0, |arrival| arrival.received_ns));
        let mut named: Vec<RecordPod> = Vec::new();
        let mut add = |address, uid: Option<&String>, name: &PodName| {
            let is_same = |one: &RecordPod| one.address == address && one.uid.as_ref() == uid;
            if !named.iter().any(is_same) {
                named.push(RecordPod {
                    address,
                    uid: uid.cloned(),
                    name: name.clone(),
                });
            }
        };
        for flow in self.observation.flow().into_iter().chain(inner) {
            for address in [flow.src, flow.dst] {
                if let Some(name) = book.at(address, time) {
                    add(Some(address), None, name);
                }
            }
        }
        let told = told.into_iter();
        let told = told.flat_map(|pods| [&pods.in_pod, &pods.out_pod, &pods.pod]);
        for uid in told.flatten() {
            if let Some(name) = book.called(uid) {
                add(None, Some(uid), name);
            }
        }
        named
    }
}

impl Record {
    /// The same record with the names of its report's pods.
    #[must_use]
    pub fn with_pods(mut self, pods: &[RecordPod]) -> Self {
        self.pods = pods.to_vec();
        self
    }
}
