//! A network namespace in which packets of some ports can be made to vanish.

use std::fs::File;
use std::process::Command;

use nix::sched::{CloneFlags, setns};

pub struct Wire {
    pub namespace: String,
}

fn run(program: &str, args: &[&str]) {
    let status = Command::new(program).args(args).status().unwrap();
    assert!(status.success(), "{program} {args:?} (needs root)");
}

impl Wire {
    pub fn new(name: &str) -> Self {
        let namespace = format!("{name}-{}", std::process::id());
        run("ip", &["netns", "add", &namespace]);
        let wire = Self { namespace };
        run("ip", &["-n", &wire.namespace, "link", "set", "lo", "up"]);
        wire
    }

    /// Runs this in it, on a thread of its own; so are the threads and programs that it starts.
    pub fn within<T: Send>(&self, run: impl FnOnce() -> T + Send) -> T {
        let namespace = File::open(format!("/run/netns/{}", self.namespace)).unwrap();
        let enter = || {
            setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
            run()
        };
        std::thread::scope(|threads| threads.spawn(enter).join().unwrap())
    }

    fn nft(&self, rules: &str) {
        run("ip", &["netns", "exec", &self.namespace, "nft", rules]);
    }

    /// Packets to and from these TCP ports vanish: neither side hears of it.
    pub fn cut(&self, ports: impl Iterator<Item = u16>) {
        let ports: Vec<_> = ports.map(|port| port.to_string()).collect();
        let ports = ports.join(", ");
        self.nft(&format!(
            "add table inet wire; add chain inet wire cut {{ type filter hook input priority 0; }}; \
             add rule inet wire cut tcp dport {{ {ports} }} drop; add rule inet wire cut tcp sport {{ {ports} }} drop"
        ));
    }

    pub fn mend(&self) {
        self.nft("delete table inet wire");
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        let _ = Command::new("ip")
            .args(["netns", "del", &self.namespace])
            .status();
    }
}
