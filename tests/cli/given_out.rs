//! What is given out: images are the same bytes twice and hold nothing but what they should, and the install script writes nothing
//! that it cannot check. The README names the files of this version.

use hostint_testing::places;

/// As packaging/image.py, packaging/deb/debianize.sh and the Makefile call them.
#[test]
fn the_readme_names_the_files_of_this_version() {
    let readme = std::fs::read_to_string(places::repository().join("README.md")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    for name in [
        format!("oci-archive:hostint-{version}-image.tar"),
        format!("./hostint_{}-1_amd64.deb", version.replace('-', "~")),
        format!("`target/release-{version}`"),
    ] {
        assert!(readme.contains(&name), "{name}");
    }
}

mod tools {
    use std::process::Command;

    use super::places;

    #[test]
    fn images_and_the_install_script_pass_their_checks() {
        for script in ["tests/image.py", "tests/install.py"] {
            let output = Command::new(places::repository().join(script))
                .output()
                .unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{script}: {stderr}");
        }
    }
}
