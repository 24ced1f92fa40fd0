//! Control sockets of daemons that were killed go with the next daemon, and all others stay.

use std::fs::{self, File};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, SystemTime};

use hostint::os::local_socket::remove_dead;
use hostint_testing::scratch::Folder;
use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;

/// As if it had been made a minute ago.
fn make_old(path: &Path) {
    let then = SystemTime::now() - Duration::from_secs(60);
    let since = then.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let time = TimeSpec::from_duration(since);
    let here = nix::fcntl::AT_FDCWD;
    utimensat(here, path, &time, &time, UtimensatFlags::NoFollowSymlink).unwrap();
}

#[test]
fn only_sockets_at_which_nobody_listens_any_more_are_removed() {
    let folder = Folder::create();
    let path = |name: &str| folder.file(name);
    drop(UnixListener::bind(path("control.1.sock")).unwrap());
    let _alive = UnixListener::bind(path("control.2.sock")).unwrap();
    drop(UnixListener::bind(path("control.3.sock")).unwrap());
    File::create(path("control.4.sock")).unwrap();
    for name in ["control.1.sock", "control.2.sock", "control.4.sock"] {
        make_old(&path(name));
    }
    let parent = path("control.1.sock").parent().unwrap().to_owned();
    remove_dead(&parent);
    let mut left: Vec<_> = fs::read_dir(&parent)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    // The third one may be about to be listened at, and the fourth is no socket.
    assert_eq!(left, ["control.2.sock", "control.3.sock", "control.4.sock"]);
    remove_dead(Path::new("/nonexistent"));
}
