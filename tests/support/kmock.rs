//! A server that speaks as much of Kubernetes' API as pods take: lists in pages, watches with bookmarks, and what goes wrong.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// What goes wrong with a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// HTTP status 410.
    Gone,
    /// An ERROR event of 410, in the watch.
    GoneEvent,
    /// The connection ends in the middle of the next event.
    CutInEvent,
    /// The watch ends in order.
    End,
    /// A line that is no event.
    Garbage,
    /// An event of a kind that does not exist yet.
    Unheard,
    /// HTTP status 500.
    Broken,
    /// HTTP status 403.
    Forbidden,
    /// The connection ends before an answer.
    Close,
}

#[derive(Default)]
struct State {
    pods: BTreeMap<String, Value>,
    version: u64,
    /// What happened, with its version.
    log: Vec<(u64, &'static str, Value)>,
    /// Nothing before this version is known any more.
    oldest: u64,
    token: Option<String>,
    list_faults: VecDeque<Fault>,
    watch_faults: VecDeque<Fault>,
    /// All that were asked for.
    targets: Vec<String>,
    watches: usize,
}

/// The server.
#[derive(Clone)]
pub struct Kmock {
    pub url: String,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl Kmock {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            state: Arc::default(),
        };
        server.state().version = 1000;
        let serving = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let serving = serving.clone();
                thread::spawn(move || serving.serve(&stream.unwrap()));
            }
        });
        server
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.0.lock().unwrap()
    }

    /// Adds a pod, or changes it.
    pub fn put(&self, pod: Value) {
        let name = format!("{}/{}", text(&pod, "namespace"), text(&pod, "name"));
        let kind = match self.state().pods.contains_key(&name) {
            true => "MODIFIED",
            false => "ADDED",
        };
        self.happen(kind, pod, |state, pod| {
            state.pods.insert(name, pod);
        });
    }

    pub fn delete(&self, namespace: &str, name: &str) {
        let name = format!("{namespace}/{name}");
        let pod = self.state().pods[&name].clone();
        self.happen("DELETED", pod, |state, _| {
            state.pods.remove(&name);
        });
    }

    pub fn bookmark(&self) {
        let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"creationTimestamp": null}, "spec": {"containers": null}, "status": {}});
        self.happen("BOOKMARK", pod, |_, _| {});
    }

    fn happen(&self, kind: &'static str, mut pod: Value, change: impl FnOnce(&mut State, Value)) {
        let mut state = self.state();
        state.version += 1;
        let version = state.version;
        pod["metadata"]["resourceVersion"] = version.to_string().into();
        change(&mut state, pod.clone());
        state.log.push((version, kind, pod));
        self.state.1.notify_all();
    }

    /// Forgets what happened so far, which watches that are behind then cannot be told.
    pub fn compact(&self) {
        let mut state = self.state();
        state.log.clear();
        state.oldest = state.version;
        self.state.1.notify_all();
    }

    /// What becomes of the next requests for parts of lists.
    pub fn spoil_lists(&self, faults: &[Fault]) {
        self.state().list_faults.extend(faults);
    }

    /// What becomes of the next watches. What is in the middle of one comes with its next event.
    pub fn spoil_watches(&self, faults: &[Fault]) {
        self.state().watch_faults.extend(faults);
        self.state.1.notify_all();
    }

    /// Takes this token alone from now on.
    pub fn expect_token(&self, token: &str) {
        self.state().token = Some(token.to_owned());
    }

    pub fn targets(&self) -> Vec<String> {
        self.state().targets.clone()
    }

    /// The watches that wait for something to happen.
    pub fn watches(&self) -> usize {
        self.state().watches
    }

    fn serve(&self, stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        while let Some((target, token)) = read(&mut reader) {
            let expected = {
                let mut state = self.state();
                state.targets.push(target.clone());
                state.token.clone()
            };
            let goes_on = match expected {
                Some(expected) if token != Some(format!("Bearer {expected}")) => {
                    status(stream, 401, "Unauthorized")
                }
                _ if target.contains("watch=1") => {
                    // A connection is not used again behind a watch.
                    let _ = self.watch(stream, &target);
                    false
                }
                _ => self.list(stream, &target),
            };
            if !goes_on {
                return;
            }
        }
    }

    fn list(&self, stream: &TcpStream, target: &str) -> bool {
        let mut state = self.state();
        match state.list_faults.pop_front() {
            Some(Fault::Gone) => return status(stream, 410, "Expired"),
            Some(Fault::Broken) => return status(stream, 500, "InternalError"),
            Some(Fault::Forbidden) => return status(stream, 403, "Forbidden"),
            Some(Fault::Garbage) => return answer(stream, 200, "<html>"),
            Some(Fault::Close) => return false,
            _ => {}
        }
        let limit: usize = parameter(target, "limit").unwrap().parse().unwrap();
        // What continue says is "VERSION:FROM".
        let next = parameter(target, "continue").map(|next| next.replace("%3A", ":"));
        let next = next.unwrap_or_else(|| format!("{}:0", state.version));
        let (version, from) = next.split_once(':').unwrap();
        let from: usize = from.parse().unwrap();
        let items: Vec<&Value> = state.pods.values().skip(from).take(limit).collect();
        let left = state.pods.len().saturating_sub(from + items.len());
        let mut metadata = json!({"resourceVersion": version});
        if left > 0 {
            metadata["continue"] = format!("{version}:{}", from + items.len()).into();
            metadata["remainingItemCount"] = left.into();
        }
        let list =
            json!({"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items});
        answer(stream, 200, &list.to_string())
    }

    fn watch(&self, mut stream: &TcpStream, target: &str) -> std::io::Result<()> {
        let mut version: u64 = parameter(target, "resourceVersion")
            .unwrap()
            .parse()
            .unwrap();
        let mut state = self.state();
        if version < state.oldest {
            status(stream, 410, "Expired");
            return Ok(());
        }
        let at_once = [Fault::Gone, Fault::Broken, Fault::Forbidden, Fault::Close];
        let first = state.watch_faults.front().copied();
        if let Some(fault) = first.filter(|fault| at_once.contains(fault)) {
            state.watch_faults.pop_front();
            match fault {
                Fault::Gone => status(stream, 410, "Expired"),
                Fault::Broken => status(stream, 500, "InternalError"),
                Fault::Forbidden => status(stream, 403, "Forbidden"),
                _ => false,
            };
            return Ok(());
        }
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )?;
        state.watches += 1;
        loop {
            if version < state.oldest {
                state.watches -= 1;
                return spoil(stream, Fault::GoneEvent, "");
            }
            let next = state.log.iter().find(|one| one.0 > version);
            let Some((reached, kind, pod)) = next else {
                // A client that is gone shows by the next word.
                let waited = self.state.1.wait_timeout(state, Duration::from_secs(60));
                state = waited.unwrap().0;
                continue;
            };
            let reached = *reached;
            let line = format!("{}\n", json!({"type": kind, "object": pod}));
            if let Some(fault) = state.watch_faults.pop_front() {
                state.watches -= 1;
                drop(state);
                spoil(stream, fault, &line)?;
                // A line that is not known is followed by those that are.
                if fault != Fault::Unheard {
                    return Ok(());
                }
                state = self.state();
                state.watches += 1;
            }
            version = reached;
            // Lines and chunks have nothing to do with each other.
            let (begin, end) = line.split_at(line.len() / 3);
            chunk(stream, begin)?;
            chunk(stream, end)?;
        }
    }
}

fn spoil(mut stream: &TcpStream, fault: Fault, line: &str) -> std::io::Result<()> {
    match fault {
        Fault::CutInEvent => chunk(stream, &line[..line.len() / 2]),
        Fault::Garbage => chunk(stream, "}{ \u{fffd}\n"),
        Fault::Unheard => chunk(
            stream,
            "{\"type\":\"UNHEARD\",\"object\":{\"kind\":\"Thing\"}}\n",
        ),
        Fault::GoneEvent => chunk(
            stream,
            &format!(
                "{}\n",
                json!({"type": "ERROR", "object": failure(410, "Expired")})
            ),
        ),
        _ => write!(stream, "0\r\n\r\n"),
    }
}

fn text(pod: &Value, key: &str) -> String {
    pod["metadata"][key].as_str().unwrap().to_owned()
}

fn parameter(target: &str, name: &str) -> Option<String> {
    let query = target.split_once('?')?.1;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value.to_owned())
}

fn chunk(mut stream: &TcpStream, text: &str) -> std::io::Result<()> {
    write!(stream, "{:x}\r\n{text}\r\n", text.len())
}

fn failure(code: u16, reason: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": format!("pods: {reason}"), "reason": reason, "code": code})
}

fn status(stream: &TcpStream, code: u16, reason: &str) -> bool {
    answer(stream, code, &failure(code, reason).to_string())
}

fn answer(mut stream: &TcpStream, code: u16, body: &str) -> bool {
    write!(
        stream,
        "HTTP/1.1 {code} said\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .is_ok()
}

/// The target of a request, and who asks.
fn read(reader: &mut impl BufRead) -> Option<(String, Option<String>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let target = line.split(' ').nth(1)?.to_owned();
    let mut token = None;
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            return Some((target, token));
        };
        if name.eq_ignore_ascii_case("authorization") {
            token = Some(value.to_owned());
        }
    }
}

/// A running pod of a Deployment, as an API server has it.
pub fn pod(namespace: &str, name: &str, address: &str, start: &str) -> Value {
    let owner = name.rsplit_once('-').map_or(name, |(owner, _)| owner);
    let hash = owner.rsplit_once('-').map_or("", |(_, hash)| hash);
    json!({
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "generateName": format!("{owner}-"),
            "namespace": namespace,
            "uid": uid(name, start),
            "creationTimestamp": start,
            "labels": {"app": "x", "pod-template-hash": hash},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": "y", "controller": true, "blockOwnerDeletion": true}]
        },
        "spec": {"nodeName": "node-1", "containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": "Running", "hostIP": "192.0.2.1", "podIP": address, "podIPs": [{"ip": address}], "startTime": start}
    })
}

/// The uid of such a pod.
pub fn uid(name: &str, start: &str) -> String {
    format!("uid-of-{name}-{start}")
}
