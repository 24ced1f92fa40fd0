//! The pods at both ends of a flow.

use clap::ValueEnum;
use serde::Serialize;

use crate::model::{FlowKey, FlowTime, PacketPods, PodBook, PodName};

/// Their names, as far as they are certain.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct FlowPods {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub src_pod: Option<PodName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dst_pod: Option<PodName>,
}

/// The pods behind the interfaces that packets pass a host by, as far as the API server of their cluster names them.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct PassagePods {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_pod_name: Option<PodName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_pod_name: Option<PodName>,
}

/// What flows are added up by, beside the classes of rules.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum PodsOf {
    #[default]
    /// namespaces of the pods at both ends
    Namespace,
    /// their workloads: Deployment, StatefulSet, DaemonSet, CronJob, Job, or another owner
    Workload,
    /// the pods themselves
    Pod,
}

impl PassagePods {
    pub fn of(book: &PodBook, pods: &PacketPods) -> Self {
        let name = |pod: &Option<String>| book.called(pod.as_deref()?).map(|name| (**name).clone());
        Self {
            in_pod_name: name(&pods.in_pod),
            out_pod_name: name(&pods.out_pod),
        }
    }
}

impl FlowPods {
    pub fn of(book: &PodBook, flow: &FlowKey, time: FlowTime) -> Self {
        let name = |address| book.at(address, time).map(|name| (**name).clone());
        Self {
            src_pod: name(flow.src),
            dst_pod: name(flow.dst),
        }
    }

    pub fn are_known(&self) -> bool {
        *self != Self::default()
    }

    /// `shop/web-0 -> shop/db-0`, and `-` for an end that is no pod; nothing if neither is.
    pub fn text(&self, of: PodsOf) -> Option<String> {
        let part = |name: &PodName| match of {
            PodsOf::Namespace => name.namespace.clone(),
            PodsOf::Workload => format!("{}/{}", name.namespace, name.workload),
            PodsOf::Pod => name.to_string(),
        };
        let end = |name: &Option<PodName>| name.as_ref().map_or_else(|| "-".to_owned(), part);
        let text = || format!("{} -> {}", end(&self.src_pod), end(&self.dst_pod));
        self.are_known().then(text)
    }
}
