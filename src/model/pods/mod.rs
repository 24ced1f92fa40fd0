//! Pods of a cluster as its API server tells of them: their names, and which had an address when.

mod address_holders;
mod named_pods;
mod pod_book;
mod pod_name;
mod pods_status;
mod record_pods;
mod seen_pod;

pub use address_holders::{AddressHolders, FlowTime};
pub use named_pods::{FlowPods, PassagePods, PodsOf};
pub use pod_book::PodBook;
pub use pod_name::{PodName, RecordPod};
pub use pods_status::PodsStatus;
pub use seen_pod::{PodNews, PodPeriod, SeenPod};
