//! Hosts that seem to run a kernel of their own.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::scratch::Folder;

/// A script that runs hostint where the kernel's boot id is another one.
pub fn with_another_boot_id(folder: &Folder, binary: &Path) -> PathBuf {
    let (script, boot_id) = (folder.file("hostint.sh"), folder.file("boot_id"));
    std::fs::write(&boot_id, "01234567-89ab-cdef-0123-456789abcdef\n").unwrap();
    let lines = format!(
        "#!/bin/sh -e\nmount --bind {} /proc/sys/kernel/random/boot_id\nexec {} \"$@\"\n",
        boot_id.display(),
        binary.display()
    );
    std::fs::write(&script, lines).unwrap();
    std::fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    script
}
