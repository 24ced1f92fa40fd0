//! Tansu, a Kafka broker that keeps its messages in a file, and a recent client of it.

use std::fs::Permissions;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::cluster::{Message, messages};

/// Where it listens, in a network namespace of its own.
pub const ADDRESS: &str = "127.0.0.1:9092";
pub const PORT: u16 = 9092;

pub const USER: &str = "hostint";
pub const PASSWORD: &str = "a secret between us";

pub struct Tansu {
    child: Child,
    folder: PathBuf,
    authenticates: bool,
}

/// As HOSTINT_TANSU names it, else as packaging/install-build-deps.sh installs it.
fn program() -> PathBuf {
    std::env::var_os("HOSTINT_TANSU").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tansu/bin/tansu"),
        PathBuf::from,
    )
}

impl Tansu {
    /// With nothing in it. `name` is that of its folder.
    pub fn new(name: &str) -> Self {
        let folder = format!("tansu-{name}-{}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
        std::fs::create_dir(&folder).unwrap();
        Self {
            child: start(&folder, false),
            folder,
            authenticates: false,
        }
    }

    /// From now on it serves its one user only.
    pub fn authenticate(&mut self) {
        let url = format!("tcp://{ADDRESS}");
        let made = Command::new(program())
            .args(["user", "create", USER, PASSWORD, "--broker", &url])
            .status();
        assert!(made.unwrap().success());
        self.kill();
        self.authenticates = true;
        self.restart();
    }

    /// Without a word; what it has stays.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn restart(&mut self) {
        self.child = start(&self.folder, self.authenticates);
    }

    /// A file with this in it.
    pub fn secret(&self, secret: &str) -> String {
        let path = self.folder.join("secret");
        std::fs::write(&path, secret).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        path.display().to_string()
    }

    /// As `name:partitions`.
    pub fn create(&self, topics: &[String]) {
        self.client("create", topics);
    }

    /// All that a topic has.
    pub fn consume(&self, topic: &str) -> Vec<Message> {
        messages(&self.client("consume", &[topic.to_owned()]).stdout)
    }

    fn client(&self, verb: &str, args: &[String]) -> Output {
        let venv = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/target/engines-venv/bin/python"
        );
        let python = std::env::var_os("HOSTINT_ENGINES_PYTHON").unwrap_or_else(|| venv.into());
        let mut command = Command::new(python);
        if self.authenticates {
            let properties = serde_json::json!({
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "SCRAM-SHA-512",
                "sasl.username": USER,
                "sasl.password": PASSWORD,
            });
            command.env("KAFKA_PROPERTIES", properties.to_string());
        }
        command.arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/engines/kafka/client.py"
        ));
        let output = command.args([ADDRESS, verb]).args(args).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{verb} {args:?}: {complaint}");
        output
    }
}

fn start(folder: &Path, authenticates: bool) -> Child {
    let url = format!("tcp://{ADDRESS}");
    let mut command = Command::new(program());
    command
        .current_dir(folder)
        .args(["broker", "--silent"])
        .args(["--listener-url", &url, "--advertised-listener-url", &url])
        .args(["--storage-engine", "sqlite://tansu.db"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(folder.join("log")).unwrap());
    if authenticates {
        command.arg("--authentication");
    }
    let child = command
        .spawn()
        .expect("tansu (try sudo packaging/install-build-deps.sh --kafka)");
    let end = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(ADDRESS).is_err() {
        assert!(Instant::now() < end, "tansu does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

impl Drop for Tansu {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
