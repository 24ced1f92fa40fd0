//! A BPF file system that is read-only or was unmounted is named as such, and traffic goes on.

use std::process::{Command, Stdio};

use hostint_testing::harness::Daemon;
use hostint_testing::netns::{Host, Lab};
use hostint_testing::places;
use nix::sys::signal::Signal;

use crate::exchange::exchange_udp;
use crate::own_bpffs::OwnBpffs;

/// What a command says at its end, on both outputs.
fn said(host: &Host, line: &str) -> (Option<i32>, String) {
    let output = host.try_hostint(line);
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

#[test]
fn one_that_is_read_only_is_named() {
    let mut lab = Lab::new();
    let own = OwnBpffs::of(&mut lab.b);
    own.remount("ro");
    let path = own.0.display();
    let (code, text) = said(&lab.b, "sink --dev b0 --node-id 2");
    assert_eq!(code, Some(1), "{text}");
    let advice = format!("{path} is mounted read-only (try: mount -o remount,rw {path})");
    assert!(text.contains(&advice), "{text}");
    let (_, text) = said(&lab.b, "doctor --dev b0");
    let found = format!("{path} is mounted read-only (mount -o remount,rw {path})");
    assert!(text.contains(&found), "{text}");
    own.remount("rw");
    let _sink = lab.b.sink("--dev b0 --node-id 2");
    lab.b.hostint("sink detach");
}

#[test]
fn a_folder_that_is_none_is_named_by_the_daemon_and_before() {
    let lab = Lab::new();
    let folder = hostint_testing::scratch::Folder::create();
    let given = folder.path().display();
    for (line, code, words) in [
        (
            "sink --dev b0 --node-id 2",
            2,
            format!("{given} is no BPF file system (try: mount -t bpf -o mode=700 bpf {given})"),
        ),
        (
            "doctor --dev b0",
            1,
            format!("no BPF file system can be used: {given} is no BPF file system"),
        ),
    ] {
        let (ended, text) = said(&lab.b, &format!("--bpffs {given} {line}"));
        assert!(text.contains(&words), "{line}: {text}");
        assert_eq!(ended, Some(code), "{line}: {text}");
    }
}

#[test]
fn one_that_is_unmounted_ends_nothing_and_our_program_is_known_as_ours() {
    let mut lab = Lab::new();
    let own = OwnBpffs::of(&mut lab.b);
    let path = own.0.display().to_string();
    let _a = lab.a.sink("--dev a0 --node-id 1");
    // As a service it sees the mounts of the host; `ip netns exec` gives it its own.
    let mut b = Daemon::start(
        Command::new("nsenter")
            .arg(format!("--net=/run/netns/{}", lab.b.ns))
            .args([places::hostint(), "--bpffs", &path, "sink", "--dev", "b0"])
            .args(["--node-id", "2", "--hook", "xdp"])
            .stdin(Stdio::null())
            .stdout(Stdio::null()),
    );
    b.wait_for("sink attached");
    lab.a.hostint("source attach --dev a0");
    lab.a.hostint("source add-dest 10.9.2.1");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    exchange_udp(&from, &to, 20, 100);
    let tagged = || lab.a.count("source", "tagged");
    let before = tagged();
    assert!(before > 0);
    own.unmount();
    b.wait_for(&format!("the BPF file system at {path} was unmounted"));
    exchange_udp(&from, &to, 20, 100);
    assert!(tagged() >= before + 20, "it strips on, and leases are good");

    // Another file system at its place has no pins.
    own.mount();
    let (code, text) = said(&lab.b, "sink --dev b0 --node-id 2 --hook xdp");
    assert_eq!(code, Some(1), "{text}");
    let ours = "hostint's own XDP program sink";
    assert!(
        text.contains(ours) && text.contains("bpftool link detach id"),
        "{text}"
    );
    let (_, text) = said(&lab.b, "doctor --dev b0");
    assert!(text.contains("xdp: sink (id "), "{text}");
    assert!(
        text.contains("hostint's own, but pinned in another BPF file system"),
        "{text}"
    );

    // It cannot leave its program behind, so that sources stop first.
    b.signal(Signal::SIGTERM);
    let (code, text) = b.end();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("sink detached from b0"), "{text}");
    exchange_udp(&from, &to, 20, 100);
    assert!(!lab.b.sh("ip link show b0").contains("xdp"));
}

/// Hosts that begin at once where none is mounted, in their own mounts as `ip netns exec` makes them. Prints how many are mounted
/// then.
const BEGIN_AT_ONCE: &str = r#"
umount /sys/fs/bpf || true
for node in $(seq 6); do
    unshare --net --mount sh -c "mount -t sysfs sysfs /sys; ip link set lo up
        exec $0 source attach --dev lo --force --node-id $node" >&2 &
done
wait
grep -c ' /sys/fs/bpf ' /proc/1/mountinfo
"#;

#[test]
fn hosts_that_begin_at_once_mount_one() {
    for _ in 0..5 {
        let output = Command::new("unshare")
            .args(["--mount", "--pid", "--fork", "--mount-proc", "sh", "-c"])
            .args([BEGIN_AT_ONCE, places::hostint()])
            .output()
            .unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(text.starts_with("1\n"), "{text}");
        assert_eq!(text.matches("source attached to lo").count(), 6, "{text}");
    }
}
