//! The kernel's number of TCP sockets in the network namespace of this thread.

use std::fs;

/// Returns false if there are none. To walk over the kernel's table takes as long as it is large, however empty it is.
pub fn are_there() -> bool {
    let protocols = [("sockstat", "TCP:"), ("sockstat6", "TCP6:")];
    protocols.iter().any(|(file, protocol)| {
        match fs::read_to_string(format!("/proc/thread-self/net/{file}")) {
            Ok(text) => in_use(&text, protocol) != Some(0),
            // Without IPv6 there is no file for it; without /proc there may be sockets.
            Err(_) => *file == "sockstat",
        }
    })
}

/// The number in a line such as `TCP: inuse 3 orphan 0 tw 0 alloc 5 mem 1`.
pub fn in_use(text: &str, protocol: &str) -> Option<u64> {
    let lines = text.lines().map(str::split_whitespace);
    let mut line = lines
        .into_iter()
        .find_map(|mut words| (words.next()? == protocol).then_some(words))?;
    line.find(|word| *word == "inuse")?;
    line.next()?.parse().ok()
}
