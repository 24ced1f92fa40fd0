//! The pods that a record is about.

use crate::model::{FlowTime, PodBook, Record, RecordPod};

impl Record {
    /// The same record with the names of the pods at its addresses, and of those that hosts tell, at the time when it came.
    #[must_use]
    pub fn with_pods(mut self, book: &PodBook) -> Self {
        let time = FlowTime::at(self.received_ns.unwrap_or_default());
        let flows = self.flow.iter().chain(&self.inner_flow);
        let ends = flows.flat_map(|flow| [flow.src, flow.dst]);
        let mut named: Vec<RecordPod> = Vec::new();
        for address in ends {
            if let Some(name) = book.at(address, time)
                && named.iter().all(|one| one.address != Some(address))
            {
                named.push(RecordPod {
                    address: Some(address),
                    uid: None,
                    name: (**name).clone(),
                });
            }
        }
        let of_drop = self.host_drop.iter().map(|drop| &drop.pods);
        let pods = of_drop.chain(self.host_hop.iter().map(|hop| &hop.pods));
        for told in pods.flat_map(|pods| [&pods.in_pod, &pods.out_pod, &pods.pod]) {
            if let Some(told) = told
                && let Some(name) = book.called(told)
                && named.iter().all(|one| one.uid.as_ref() != Some(told))
            {
                named.push(RecordPod {
                    address: None,
                    uid: Some(told.clone()),
                    name: (**name).clone(),
                });
            }
        }
        self.pods = named;
        self
    }
}
