//! The name of a pod, and of the workload that it belongs to.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// What people call a pod.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd, Deserialize, Serialize)]
pub struct PodName {
    pub namespace: String,
    pub pod: String,
    /// The Deployment, StatefulSet, DaemonSet, CronJob, Job or other owner that made it; the pod itself if it has none.
    pub workload: String,
    pub workload_kind: String,
}

/// A pod that a record names, by its address, or by the uid that a host told.
#[derive(Clone, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct RecordPod {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    #[serde(flatten)]
    pub name: PodName,
}

impl RecordPod {
    /// The memory that it takes, about.
    pub fn bytes(&self) -> usize {
        let PodName {
            namespace,
            pod,
            workload,
            workload_kind,
        } = &self.name;
        let texts = [namespace, pod, workload, workload_kind];
        let texts = texts.into_iter().chain(&self.uid).map(String::len);
        size_of::<Self>() + texts.sum::<usize>()
    }
}

impl fmt::Display for PodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.pod)
    }
}
