//! A real ClickHouse server with files and ports of its own, and the SQL that is installed.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use hostint::engines::http::HttpClient;

use crate::places;

const LATE: Duration = Duration::from_secs(60);

pub const PLAIN: &str = include_str!("../../packaging/clickhouse/schema-plain.sql");
pub const DISTRIBUTED: &str = include_str!("../../packaging/clickhouse/schema-distributed.sql");

/// Ends with its guard, and so do its files.
pub struct Server {
    dir: PathBuf,
    child: Child,
    pub url: String,
}

/// Where a server listens: HTTP, and what other servers speak.
#[derive(Clone)]
pub struct Ports {
    pub host: String,
    pub http: u16,
    pub tcp: u16,
}

impl Ports {
    /// Ports of a loopback address that no other test connects from or listens at.
    pub fn of_loopback() -> Self {
        static TAKEN: AtomicU8 = AtomicU8::new(1);
        let [.., high, low] = std::process::id().to_be_bytes();
        let last = TAKEN.fetch_add(1, Ordering::Relaxed);
        Self::free(&format!("127.{}.{low}.{last}", high | 128))
    }

    /// Free ones of an address of this namespace.
    pub fn free(host: &str) -> Self {
        let bind = || TcpListener::bind((host, 0)).unwrap();
        let (http, tcp) = (bind(), bind());
        let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
        Self {
            host: host.to_owned(),
            http: port(&http),
            tcp: port(&tcp),
        }
    }
}

impl Server {
    /// In the caller's namespace; the servers of `cluster` are shards of one named hostint.
    pub fn start(name: &str, ports: &Ports, cluster: &[Ports]) -> Self {
        let name = format!("clickhouse-{}-{name}", std::process::id());
        let dir = places::scratch().join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        let shards: String = cluster.iter().map(shard).collect();
        let config = format!(
            "<yandex><logger><level>warning</level><console>1</console></logger>
            <listen_host>{}</listen_host><http_port>{}</http_port><tcp_port>{}</tcp_port>
            <path>./data/</path><tmp_path>./tmp/</tmp_path><user_files_path>./files/</user_files_path>
            <users_config>users.xml</users_config><default_profile>default</default_profile>
            <default_database>default</default_database><mark_cache_size>10000000</mark_cache_size>
            <keep_alive_timeout>1</keep_alive_timeout><timezone>UTC</timezone>
            <remote_servers><hostint>{shards}</hostint></remote_servers></yandex>",
            ports.host, ports.http, ports.tcp
        );
        fs::write(dir.join("config.xml"), config).unwrap();
        let user = |name: &str, password: &str| {
            format!(
                "<{name}><password>{password}</password><networks><ip>::/0</ip></networks>
                <profile>default</profile><quota>default</quota></{name}>"
            )
        };
        let users = format!(
            "<yandex><profiles><default></default></profiles><quotas><default></default></quotas>
            <users>{}{}</users></yandex>",
            user("default", ""),
            user("writer", "between us")
        );
        fs::write(dir.join("users.xml"), users).unwrap();
        let child = spawn(&dir);
        let url = format!("http://{}:{}/", ports.host, ports.http);
        let mut server = Self { dir, child, url };
        server.await_answer();
        server
    }

    /// Kills it as a crash would.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// After [`Self::kill`], in the namespace that it was in.
    pub fn restart(&mut self) {
        self.child = spawn(&self.dir);
        self.await_answer();
    }

    fn await_answer(&mut self) {
        let end = Instant::now() + LATE;
        while self.try_ask("SELECT 1").is_err() {
            let ended = self.child.try_wait().unwrap();
            let log = || fs::read_to_string(self.dir.join("log")).unwrap();
            assert!(ended.is_none(), "clickhouse-server ended: {}", log());
            assert!(Instant::now() < end, "no answer: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn try_ask(&self, sql: &str) -> Result<String, String> {
        try_ask(&self.url, sql)
    }

    /// What a query answers, as lines of values with tabs between them.
    pub fn ask(&self, sql: &str) -> String {
        self.try_ask(sql)
            .unwrap_or_else(|err| panic!("{sql}: {err}"))
    }

    /// All statements of a file.
    pub fn run(&self, sql: &str) {
        for statement in statements(sql) {
            self.ask(&statement);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

pub fn try_ask(url: &str, sql: &str) -> Result<String, String> {
    let client = HttpClient::new(url, Vec::new()).unwrap();
    let answer = client.post("", "text/plain", sql.as_bytes());
    let answer = answer.map_err(|trouble| format!("{trouble:?}"))?;
    match answer.status {
        200 => Ok(String::from_utf8(answer.body).unwrap()),
        _ => Err(answer.said()),
    }
}

fn spawn(dir: &Path) -> Child {
    let log = fs::File::create(dir.join("log")).unwrap();
    Command::new("clickhouse-server")
        .arg("--config-file=config.xml")
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .expect("clickhouse-server (try packaging/install-build-deps.sh --test)")
}

fn shard(ports: &Ports) -> String {
    format!(
        "<shard><replica><host>{}</host><port>{}</port></replica></shard>",
        ports.host, ports.tcp
    )
}

/// Without comments.
pub fn statements(sql: &str) -> Vec<String> {
    let lines = sql.lines().filter(|line| !line.trim().starts_with("--"));
    let bare: Vec<_> = lines.collect();
    let statements = bare.join("\n");
    let statements = statements.split(';').map(|one| one.trim().to_owned());
    statements.filter(|one| !one.is_empty()).collect()
}
