//! The Kafka engine trusts brokers by their certificates and proves itself by a password.

use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering::Relaxed;

use hostint::engines::kafka::{Credentials, Kafka, KafkaSettings, SaslConfig};
use hostint::engines::{Engine, Trouble};
use hostint_testing::collecting::Collecting;
use hostint_testing::harness::{check, hostint};
use hostint_testing::kafka_stub::Stub;
use hostint_testing::places;
use hostint_testing::scratch::Folder;

use super::deliveries::{parcel, settings};

/// Anything over TLS that says what it hears.
struct Listening(Child);

impl Listening {
    fn start(port: u16, folder: &Folder) -> Self {
        let child = Command::new("openssl")
            .args([
                "s_server",
                "-accept",
                &format!("127.0.0.1:{port}"),
                "-quiet",
            ])
            .args([
                "-cert",
                &folder.name("broker.pem"),
                "-key",
                &folder.name("broker.key"),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        Self(child.expect("needs openssl"))
    }

    /// Until it heard so.
    fn wait_for(&mut self, what: &[u8]) {
        let mut heard: Vec<u8> = Vec::new();
        let from = self.0.stdout.as_mut().unwrap();
        while !heard.windows(what.len()).any(|part| part == what) {
            let mut more = [0; 4096];
            let n = from.read(&mut more).unwrap();
            assert!(n > 0, "ended, and heard only {heard:?}");
            heard.extend(&more[..n]);
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An authority that everybody trusts, another one, and a broker on 127.0.0.1 that has its certificate from the first.
fn certificates(folder: &Folder) {
    let new = "-newkey rsa:2048 -nodes -days 2";
    let script = format!(
        "openssl req -x509 {new} -keyout ca.key -out ca.pem -subj /CN=ca
         openssl req -x509 {new} -keyout other.key -out other.pem -subj /CN=other
         openssl req {new} -keyout broker.key -out broker.csr -subj /CN=broker
         echo subjectAltName=IP:127.0.0.1 >broker.ext
         openssl x509 -req -in broker.csr -CA ca.pem -CAkey ca.key -days 2 -extfile broker.ext -out broker.pem"
    );
    let made = Command::new("sh")
        .args(["-ec", &script])
        .current_dir(folder.path())
        .output();
    let made = made.unwrap();
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
}

#[test]
fn a_user_has_a_password() {
    let stub = Stub::start(Some(b"\0hostint\0right"));
    let cases = [
        ("the right one", Some("right"), true),
        ("a wrong one", Some("wrong"), false),
        ("none", None, false),
    ];
    for (name, password, good) in cases {
        let login = |password: &str| {
            SaslConfig::Plain(Credentials::new("hostint".to_owned(), password.to_owned()))
        };
        let mut kafka = Kafka::new(KafkaSettings {
            login: password.map(login),
            ..settings(&stub.at)
        });
        match kafka.deliver(&parcel(1, 100)) {
            Ok(accepted) => assert!(good && accepted.refused == 0, "{name}"),
            Err(Trouble::Later(why)) => {
                assert!(
                    !good && why.contains("wants TLS or a user"),
                    "{name}: {why}"
                );
                assert!(!why.contains("wrong"), "{name}: {why}");
            }
            Err(Trouble::Refused(why)) => panic!("{name}: {why}"),
        }
    }
    assert!(stub.got.load(Relaxed) > 0);
}

#[test]
fn a_password_is_nobody_elses() {
    let folder = Folder::create();
    let file = folder.name("password");
    let args = ["collect", "--kafka", "127.0.0.1", "--kafka-user", "hostint"];
    let args = [&args[..], &["--kafka-password-file", &file]].concat();
    check(
        "no file",
        &hostint(&args),
        2,
        &["cannot read Kafka password", "No such file"],
    );
    std::fs::write(&file, "secret\n").unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
    let says = ["cannot use Kafka password", "try: chmod 600"];
    check("others may read it", &hostint(&args), 2, &says);
}

/// These need programs that `packaging/install-build-deps.sh --test` installs.
mod tools {
    use super::*;

    #[test]
    fn brokers_are_known_by_certificates_that_the_system_trusts() {
        let folder = Folder::create();
        certificates(&folder);
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut broker = Listening::start(port, &folder);
        let at = format!("127.0.0.1:{port}");
        let collect = |trusted: &str| {
            let mut command = Command::new(places::hostint());
            command.env("SSL_CERT_FILE", folder.name(trusted));
            command.env_remove("SSL_CERT_DIR");
            let mut collecting = Collecting::start_with(command, &["--kafka", &at, "--kafka-tls"]);
            collecting.send(1);
            collecting
        };
        let distrusting = collect("other.pem");
        distrusting.await_status("it says why", |status| {
            let why = &status["engines"][0]["trouble"];
            why.as_str().is_some_and(|why| why.contains("certificate"))
        });
        drop(distrusting);
        // The name of the client, in the first request.
        let _trusting = collect("ca.pem");
        broker.wait_for(b"hostint");
    }
}
