//! The paths of the program under test, of the repository, and of a folder for files of tests.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The path of hostint as it was built with the test program that runs.
pub fn hostint() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| {
        let path = beside("hostint");
        assert!(path.exists(), "{} is not built", path.display());
        path.into_os_string().into_string().unwrap()
    });
    &PATH
}

/// A folder on disk for files of tests.
pub fn scratch() -> &'static Path {
    static PATH: LazyLock<PathBuf> = LazyLock::new(|| {
        let path = beside("scratch");
        std::fs::create_dir_all(&path).unwrap();
        path
    });
    &PATH
}

/// The folder of Cargo.toml.
pub fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap()
}

/// Cargo puts test programs and benchmarks into a folder deps beside the binary.
fn beside(name: &str) -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let deps = program.parent().unwrap();
    deps.with_file_name(name)
}
