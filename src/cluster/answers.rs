//! What an API server answers about pods, read.

use std::collections::HashMap;
use std::time::UNIX_EPOCH;

use serde::Deserialize;
use serde_json::Value;

use crate::model::node_identity::printable;
use crate::model::{PodName, SeenPod};

/// The longest name that Kubernetes allows.
const MOST_NAME_CHARS: usize = 253;

/// The label of a pod by which the name of its ReplicaSet differs from that of its Deployment.
const TEMPLATE_HASH: &str = "pod-template-hash";
/// The annotation of a static pod that has the digest of which its cgroups are named.
const DIGEST: &str = "kubernetes.io/config.hash";

/// The controller of CronJobs names a Job by its CronJob and by the minute for which it was due, counted from 1970. There were
/// no CronJobs before this one, of 2015; a date such as 20261130 is less.
const FIRST_CRON_MINUTE: u32 = 24_000_000;
/// The digits of such a minute until 2160.
const CRON_DIGITS: usize = 8;

/// A part of the list of pods.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PodListPart {
    pub pods: Vec<SeenPod>,
    /// The version of all lists that this one is a part of.
    pub version: String,
    /// What the request for the next part has to say; empty in the last one.
    pub next: String,
}

/// A line of a watch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum WatchEvent {
    Seen(Box<SeenPod>, String),
    Gone(String, String),
    /// Nothing happened up to this version.
    Bookmark(String),
    /// The version from which on was asked is not known any more.
    Expired,
    Failed(String),
    /// An event that this version does not know.
    Unknown,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ApiList {
    metadata: ListMetadata,
    items: Option<Vec<ApiPod>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMetadata {
    resource_version: Option<String>,
    #[serde(rename = "continue")]
    next: Option<String>,
}

#[derive(Deserialize)]
struct ApiEvent {
    #[serde(rename = "type")]
    kind: String,
    object: Value,
}

#[derive(Deserialize)]
struct VersionedObject {
    metadata: ListMetadata,
}

#[derive(Deserialize)]
struct ApiStatus {
    code: Option<u16>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct ApiPod {
    metadata: PodMetadata,
    spec: Option<PodSpec>,
    status: Option<PodStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PodMetadata {
    name: String,
    namespace: Option<String>,
    uid: String,
    resource_version: Option<String>,
    labels: Option<HashMap<String, String>>,
    annotations: Option<HashMap<String, String>>,
    owner_references: Option<Vec<OwnerReference>>,
}

#[derive(Deserialize)]
struct OwnerReference {
    kind: String,
    name: String,
    controller: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PodSpec {
    host_network: Option<bool>,
    node_name: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PodStatus {
    phase: Option<String>,
    #[serde(rename = "podIP")]
    pod_ip: Option<String>,
    #[serde(rename = "podIPs")]
    pod_ips: Option<Vec<PodAddress>>,
    start_time: Option<String>,
}

#[derive(Deserialize)]
struct PodAddress {
    ip: Option<String>,
}

/// Reads a part of a list.
///
/// # Errors
/// It is no list of pods.
pub fn part_of(body: &[u8]) -> Result<PodListPart, String> {
    let list: ApiList = serde_json::from_slice(body).map_err(|err| err.to_string())?;
    let pods = list.items.unwrap_or_default();
    Ok(PodListPart {
        pods: pods.into_iter().map(ApiPod::seen).collect(),
        version: list.metadata.resource_version.unwrap_or_default(),
        next: list.metadata.next.unwrap_or_default(),
    })
}

/// Reads a line of a watch.
///
/// # Errors
/// It is no event of a watch of pods.
pub fn watch_event(line: &[u8]) -> Result<WatchEvent, String> {
    let event: ApiEvent = serde_json::from_slice(line).map_err(|err| err.to_string())?;
    let pod = |object| {
        let pod: ApiPod = serde_json::from_value(object).map_err(|err| err.to_string())?;
        let version = pod.metadata.resource_version.clone().unwrap_or_default();
        Ok::<_, String>((pod.seen(), version))
    };
    Ok(match event.kind.as_str() {
        "ADDED" | "MODIFIED" => {
            let (pod, version) = pod(event.object)?;
            WatchEvent::Seen(Box::new(pod), version)
        }
        "DELETED" => {
            let (pod, version) = pod(event.object)?;
            WatchEvent::Gone(pod.uid, version)
        }
        "BOOKMARK" => {
            let object = serde_json::from_value(event.object);
            let object: VersionedObject = object.map_err(|err| err.to_string())?;
            WatchEvent::Bookmark(object.metadata.resource_version.unwrap_or_default())
        }
        "ERROR" => {
            let status: ApiStatus =
                serde_json::from_value(event.object).map_err(|err| err.to_string())?;
            match status.code {
                Some(410) => WatchEvent::Expired,
                _ => WatchEvent::Failed(shown(&status.message.unwrap_or_default())),
            }
        }
        _ => WatchEvent::Unknown,
    })
}

/// What an API server calls something, bounded and with characters that show.
fn shown(text: &str) -> String {
    printable(text).chars().take(MOST_NAME_CHARS).collect()
}

/// The name of the CronJob that made a Job of this name, if one did.
fn cron_job(job: &str) -> Option<&str> {
    let (name, minute) = job.rsplit_once('-')?;
    let is_number = minute.len() == CRON_DIGITS && minute.bytes().all(|byte| byte.is_ascii_digit());
    let is_minute = is_number && minute.parse::<u32>().ok()? >= FIRST_CRON_MINUTE;
    (is_minute && !name.is_empty()).then_some(name)
}

impl ApiPod {
    fn seen(self) -> SeenPod {
        let status = self.status.unwrap_or_default();
        let in_nodes_network = self.spec.as_ref().and_then(|spec| spec.host_network);
        let has_ended = matches!(status.phase.as_deref(), Some("Succeeded" | "Failed"));
        let has_none = in_nodes_network == Some(true) || has_ended;
        let several = status.pod_ips.into_iter().flatten();
        let texts = several.filter_map(|one| one.ip).chain(status.pod_ip);
        let mut addresses = Vec::new();
        for address in texts.filter_map(|text| text.parse().ok()) {
            if !has_none && !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        let node = self.spec.and_then(|spec| spec.node_name);
        let (workload, workload_kind) = self.metadata.workload(node.as_deref());
        let began = status.start_time.as_deref();
        let began = began.and_then(|text| humantime::parse_rfc3339(text).ok());
        let since = began.and_then(|began| began.duration_since(UNIX_EPOCH).ok());
        let mut annotations = self.metadata.annotations.unwrap_or_default();
        SeenPod {
            uid: shown(&self.metadata.uid),
            digest: annotations.remove(DIGEST).map(|digest| shown(&digest)),
            name: PodName {
                namespace: shown(&self.metadata.namespace.unwrap_or_default()),
                pod: shown(&self.metadata.name),
                workload: shown(&workload),
                workload_kind: shown(&workload_kind),
            },
            addresses,
            since_ns: since.and_then(|since| u64::try_from(since.as_nanos()).ok()),
        }
    }
}

impl PodMetadata {
    /// The name and kind of what made the pod, where the pod tells it: the owner of a ReplicaSet and of a Job is not asked for, but
    /// told by the name.
    fn workload(&self, node: Option<&str>) -> (String, String) {
        let mut owners = self.owner_references.iter().flatten();
        let Some(owner) = owners.find(|owner| owner.controller == Some(true)) else {
            return (self.name.clone(), "Pod".to_owned());
        };
        let hash = self
            .labels
            .as_ref()
            .and_then(|labels| labels.get(TEMPLATE_HASH));
        let without = |name: &str, end: &str| {
            let name = name.strip_suffix(end)?.strip_suffix('-')?;
            (!name.is_empty()).then(|| name.to_owned())
        };
        let cut = match (owner.kind.as_str(), hash, node) {
            ("ReplicaSet", Some(hash), _) => {
                without(&owner.name, hash).map(|name| (name, "Deployment"))
            }
            // A static pod has the name of its node behind its own.
            ("Node", _, Some(node)) => without(&self.name, node).map(|name| (name, "Node")),
            ("Job", ..) => cron_job(&owner.name).map(|name| (name.to_owned(), "CronJob")),
            _ => None,
        };
        let (name, kind) = cut.unwrap_or((owner.name.clone(), &owner.kind));
        (name, kind.to_owned())
    }
}
