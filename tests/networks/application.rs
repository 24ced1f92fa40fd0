//! An application: a script that serves at one host and uses the service at the other one.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use hostint_testing::netns::{Host, Lab, sh};
use hostint_testing::places;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::progress::{Progress, Watch};

/// A use that takes longer has failed.
const LONGEST: Duration = Duration::from_secs(90);

fn scripts() -> PathBuf {
    places::repository().join("tests/networks/applications")
}

/// The files that all applications serve: data of 12 MB, a part of it, a small file, and a certificate.
static FILES: LazyLock<PathBuf> = LazyLock::new(|| {
    let dir = places::scratch().join("networks");
    sh(&format!(
        "rm -rf {0}; mkdir -p {0}; cd {0}
         head -c 12000000 /dev/urandom >data; head -c 1000000 data >part; head -c 3000 data >small
         openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=lab -keyout key -out certificate \
             2>/dev/null
         chmod -R a+rX .",
        dir.display()
    ));
    dir
});

/// The addresses of client and server.
pub struct Ends<'a> {
    pub client: &'a str,
    pub server: &'a str,
}

/// The outcome of one use of an application.
#[derive(Clone, Default)]
pub struct Run {
    pub failure: Option<String>,
    pub seconds: f64,
    pub progress: Progress,
}

pub struct Application {
    pub name: String,
    needs: Vec<String>,
}

impl Application {
    /// Every script that has something to serve.
    pub fn all() -> Vec<Self> {
        let listed = std::fs::read_dir(scripts()).unwrap();
        let mut names: Vec<String> = listed
            .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
            .filter_map(|name| name.strip_suffix(".sh").map(str::to_owned))
            .filter(|name| !name.ends_with(".conf"))
            .collect();
        names.sort();
        names
            .into_iter()
            .map(|name| {
                let line = format!(
                    "scripts={0}; . {0}/{name}.sh; echo $needs",
                    scripts().display()
                );
                let needs = sh(&line).split_whitespace().map(str::to_owned).collect();
                Self { name, needs }
            })
            .collect()
    }

    pub fn missing_program(&self) -> Option<&str> {
        let is_there = |program: &str| {
            let found = Command::new("sh")
                .args(["-c", &format!("command -v {program} >/dev/null")])
                .status();
            found.unwrap().success()
        };
        self.needs
            .iter()
            .map(String::as_str)
            .find(|program| !is_there(program))
    }

    /// Starts a function of the script in a process group of its own.
    fn start(&self, function: &str, host: &Host, ends: &Ends, work: &str) -> Child {
        let is_ipv6 = ends.server.contains(':');
        let bracketed = format!("[{}]", ends.server);
        let script = format!("set -euo pipefail; . $scripts/{}.sh; {function}", self.name);
        host.command("bash", &["-c", &script])
            .env("scripts", scripts())
            .env("dir", &*FILES)
            .env("work", work)
            .env("client", ends.client)
            .env("server", ends.server)
            .env("host", if is_ipv6 { &bracketed } else { ends.server })
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(format!("{work}/{function}.err")).unwrap())
            .process_group(0)
            .spawn()
            .unwrap()
    }

    /// The reason why a function did not succeed in time, or none if it did.
    fn failure(
        &self,
        function: &str,
        child: &mut Child,
        longest: Duration,
        work: &str,
    ) -> Option<String> {
        let end = Instant::now() + longest;
        loop {
            match child.try_wait().unwrap() {
                Some(status) if status.success() => return None,
                Some(status) => {
                    let said = std::fs::read_to_string(format!("{work}/{function}.err"));
                    return Some(format!("{status}: {}", said.unwrap_or_default().trim()));
                }
                None if Instant::now() > end => {
                    stop(child);
                    return Some(format!("took longer than {} s", longest.as_secs()));
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    pub fn run(&self, lab: &Lab, ends: &Ends) -> Run {
        let work = FILES.join("work").display().to_string();
        sh(&format!(
            "rm -rf {work}; mkdir -p {work}; chmod a+rwx {work}"
        ));
        let mut server = self.start("serve", &lab.b, ends, &work);
        let mut run = Run::default();
        let end = Instant::now() + Duration::from_secs(30);
        while {
            let mut ready = self.start("ready", &lab.b, ends, &work);
            self.failure("ready", &mut ready, Duration::from_secs(5), &work)
                .is_some()
        } {
            if server.try_wait().unwrap().is_some() || Instant::now() > end {
                let said = std::fs::read_to_string(format!("{work}/serve.err"));
                run.failure = Some(format!("no service: {}", said.unwrap_or_default().trim()));
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        if run.failure.is_none() {
            let watch = Watch::start(lab);
            let began = Instant::now();
            let mut client = self.start("use", &lab.a, ends, &work);
            run.failure = self.failure("use", &mut client, LONGEST, &work);
            run.seconds = began.elapsed().as_secs_f64();
            run.progress = watch.end();
        }
        stop(&mut server);
        run
    }
}

/// Ends all processes of the group that this one leads.
fn stop(child: &mut Child) {
    let group = Pid::from_raw(child.id().cast_signed());
    let end = Instant::now() + Duration::from_secs(5);
    let _ = killpg(group, Signal::SIGTERM);
    while child.try_wait().unwrap().is_none() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = killpg(group, Signal::SIGKILL);
    let _ = child.wait();
}
