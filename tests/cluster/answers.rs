//! Pods in the form in which API servers have them, and what is read of them.

use hostint::cluster::{WatchEvent, part_of, watch_event};
use hostint::model::{PodName, SeenPod};
use serde_json::{Value, json};

/// A pod of a Deployment as the documentation of Kubernetes shows one, without what is not read of it.
fn published() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "creationTimestamp": "2022-02-17T21:51:01Z",
            "generateName": "nginx-deployment-67d4bdd6f5-",
            "labels": {"app": "nginx", "pod-template-hash": "67d4bdd6f5"},
            "managedFields": [{"manager": "kubelet", "operation": "Update", "fieldsV1": {"f:status": {}}}],
            "name": "nginx-deployment-67d4bdd6f5-w6kd7",
            "namespace": "default",
            "ownerReferences": [{
                "apiVersion": "apps/v1", "blockOwnerDeletion": true, "controller": true, "kind": "ReplicaSet",
                "name": "nginx-deployment-67d4bdd6f5", "uid": "7d41dfd4-84c0-4be4-88ab-cedbe626ad82"
            }],
            "resourceVersion": "1364",
            "uid": "a6501da1-0447-4262-98eb-c03d4002222e"
        },
        "spec": {"containers": [{"image": "nginx", "name": "nginx"}], "nodeName": "kube-worker-1", "restartPolicy": "Always"},
        "status": {
            "conditions": [{"lastProbeTime": null, "status": "True", "type": "Ready"}],
            "hostIP": "192.168.0.113", "phase": "Running", "podIP": "10.88.0.3",
            "podIPs": [{"ip": "10.88.0.3"}, {"ip": "2001:db8::1"}],
            "qosClass": "Guaranteed", "startTime": "2022-02-17T21:51:01Z"
        }
    })
}

fn read(pod: &Value) -> SeenPod {
    let line = json!({"type": "ADDED", "object": pod}).to_string();
    match watch_event(line.as_bytes()) {
        Ok(WatchEvent::Seen(pod, _)) => *pod,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_published_pod_is_read_whole() {
    assert_eq!(
        read(&published()),
        SeenPod {
            uid: "a6501da1-0447-4262-98eb-c03d4002222e".into(),
            digest: None,
            name: PodName {
                namespace: "default".into(),
                pod: "nginx-deployment-67d4bdd6f5-w6kd7".into(),
                workload: "nginx-deployment".into(),
                workload_kind: "Deployment".into(),
            },
            addresses: vec!["10.88.0.3".parse().unwrap(), "2001:db8::1".parse().unwrap()],
            since_ns: Some(1_645_134_661_000_000_000),
        }
    );
}

#[test]
fn the_owner_of_a_pod_is_its_workload() {
    let owner = |kind: &str, name: &str| json!([{"apiVersion": "x", "kind": kind, "name": name, "uid": "u", "controller": true}]);
    for (sentence, owners, labels, name, workload) in [
        (
            "a Deployment's ReplicaSet",
            owner("ReplicaSet", "web-5d"),
            json!({"pod-template-hash": "5d"}),
            "web-5d-x",
            ("web", "Deployment"),
        ),
        (
            "a ReplicaSet alone",
            owner("ReplicaSet", "web-5d"),
            json!({}),
            "web-5d-x",
            ("web-5d", "ReplicaSet"),
        ),
        (
            "a ReplicaSet whose name has another end",
            owner("ReplicaSet", "web-5d"),
            json!({"pod-template-hash": "6e"}),
            "web-5d-x",
            ("web-5d", "ReplicaSet"),
        ),
        (
            "a ReplicaSet of nothing but a hash",
            owner("ReplicaSet", "-5d"),
            json!({"pod-template-hash": "5d"}),
            "p",
            ("-5d", "ReplicaSet"),
        ),
        (
            "a StatefulSet",
            owner("StatefulSet", "db"),
            json!({"apps.kubernetes.io/pod-index": "0"}),
            "db-0",
            ("db", "StatefulSet"),
        ),
        (
            "a DaemonSet",
            owner("DaemonSet", "agent"),
            json!({"pod-template-generation": "1"}),
            "agent-x",
            ("agent", "DaemonSet"),
        ),
        (
            "a CronJob's Job",
            owner("Job", "copy-28912345"),
            json!({}),
            "copy-28912345-x",
            ("copy", "CronJob"),
        ),
        (
            "a CronJob's Job, by hand",
            owner("Job", "copy-manual-x7k"),
            json!({}),
            "copy-manual-x7k-x",
            ("copy-manual-x7k", "Job"),
        ),
        (
            "a Job with a date",
            owner("Job", "copy-20261130"),
            json!({}),
            "copy-20261130-x",
            ("copy-20261130", "Job"),
        ),
        (
            "a Job with a number of seconds",
            owner("Job", "copy-1734740700"),
            json!({}),
            "copy-1734740700-x",
            ("copy-1734740700", "Job"),
        ),
        (
            "a Job of nothing but a minute",
            owner("Job", "-28912345"),
            json!({}),
            "p",
            ("-28912345", "Job"),
        ),
        (
            "an operator's kind",
            owner("Cluster", "pg"),
            json!({}),
            "pg-1",
            ("pg", "Cluster"),
        ),
        (
            "a static pod",
            owner("Node", "kube-worker-1"),
            json!({}),
            "etcd-kube-worker-1",
            ("etcd", "Node"),
        ),
        (
            "no owner",
            Value::Null,
            json!({}),
            "shell",
            ("shell", "Pod"),
        ),
        (
            "an owner that does not control it",
            json!([{"kind": "X", "name": "y"}]),
            Value::Null,
            "shell",
            ("shell", "Pod"),
        ),
    ] {
        let mut pod = published();
        pod["metadata"]["ownerReferences"] = owners;
        pod["metadata"]["labels"] = labels;
        pod["metadata"]["name"] = name.into();
        let found = read(&pod).name;
        assert_eq!(
            (&*found.workload, &*found.workload_kind),
            workload,
            "{sentence}"
        );
    }
}

#[test]
fn only_a_pods_own_addresses_are_its() {
    let none: [&str; 0] = [];
    for (sentence, change, addresses) in [
        (
            "the network of its node",
            json!({"spec": {"hostNetwork": true}}),
            &none[..],
        ),
        (
            "a Job's pod that has ended",
            json!({"status": {"phase": "Succeeded"}}),
            &none,
        ),
        (
            "one that failed",
            json!({"status": {"phase": "Failed"}}),
            &none,
        ),
        (
            "one that waits for a node",
            json!({"status": {"phase": "Pending", "podIP": null, "podIPs": null, "startTime": null}}),
            &none,
        ),
        ("no status", json!({"status": null}), &none),
        (
            "an older server",
            json!({"status": {"podIPs": null}}),
            &["10.88.0.3"],
        ),
        (
            "no address",
            json!({"status": {"podIP": "", "podIPs": [{"ip": "ten"}, {}]}}),
            &none,
        ),
    ] {
        let mut pod = published();
        for (part, fields) in change.as_object().unwrap() {
            match fields.as_object() {
                Some(fields) => fields
                    .iter()
                    .for_each(|(key, value)| pod[part][key] = value.clone()),
                None => pod[part] = Value::Null,
            }
        }
        let found: Vec<String> = read(&pod)
            .addresses
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, addresses, "{sentence}");
    }
}

#[test]
fn a_static_pod_has_the_digest_of_its_cgroups() {
    let mut pod = published();
    pod["metadata"]["annotations"] = json!({"kubernetes.io/config.hash": "0123456789abcdef0123456789abcdef", "kubernetes.io/config.source": "file"});
    assert_eq!(
        read(&pod).digest.as_deref(),
        Some("0123456789abcdef0123456789abcdef")
    );
}

#[test]
fn names_show_and_are_bounded() {
    let mut pod = published();
    pod["metadata"]["name"] = "a\u{1b}[2J".into();
    pod["metadata"]["namespace"] = "n".repeat(1000).into();
    let name = read(&pod).name;
    assert_eq!(name.pod, "a\u{fffd}[2J");
    assert_eq!(name.namespace.len(), 253);
}

#[test]
fn the_lines_of_a_watch_are_read() {
    let bookmark = r#"{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"12746","creationTimestamp":null},"spec":{"containers":null},"status":{}}}"#;
    let error = |code: u16| {
        format!(
            r#"{{"type":"ERROR","object":{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"too old resource version: 1 (2)","reason":"Expired","code":{code}}}}}"#
        )
    };
    let deleted = json!({"type": "DELETED", "object": published()}).to_string();
    for (sentence, line, event) in [
        (
            "a bookmark",
            bookmark.to_owned(),
            Ok(WatchEvent::Bookmark("12746".into())),
        ),
        (
            "a version that is too old",
            error(410),
            Ok(WatchEvent::Expired),
        ),
        (
            "another failure",
            error(500),
            Ok(WatchEvent::Failed("too old resource version: 1 (2)".into())),
        ),
        (
            "a pod that goes",
            deleted,
            Ok(WatchEvent::Gone(
                "a6501da1-0447-4262-98eb-c03d4002222e".into(),
                "1364".into(),
            )),
        ),
        (
            "a kind of event that comes later",
            r#"{"type":"NEW","object":{}}"#.into(),
            Ok(WatchEvent::Unknown),
        ),
        (
            "a pod without a uid",
            r#"{"type":"ADDED","object":{"metadata":{"name":"x"}}}"#.into(),
            Err(()),
        ),
        ("no event", r#"{"kind":"PodList"}"#.into(), Err(())),
        ("half of one", bookmark[..40].to_owned(), Err(())),
        ("nothing", String::new(), Err(())),
    ] {
        assert_eq!(
            watch_event(line.as_bytes()).map_err(|_| ()),
            event,
            "{sentence}"
        );
    }
}

#[test]
fn a_list_has_parts() {
    let part = json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "10245", "continue": "ENCODED_CONTINUE_TOKEN", "remainingItemCount": 753}, "items": [published()]});
    let page = part_of(part.to_string().as_bytes()).unwrap();
    assert_eq!(
        (page.pods.len(), &*page.version, &*page.next),
        (1, "10245", "ENCODED_CONTINUE_TOKEN")
    );
    let last = json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "10245", "continue": ""}, "items": null});
    let page = part_of(last.to_string().as_bytes()).unwrap();
    assert_eq!((page.pods.len(), &*page.next), (0, ""));
    assert!(part_of(b"<html>").is_err());
}
