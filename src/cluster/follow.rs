//! Follows the pods of a cluster: lists them, watches what changes, and lists them again where something may be missed.

use std::thread;
use std::time::{Duration, Instant};

use super::answers::WatchEvent;
use super::api_server::{ApiConnection, ApiServer, ApiTrouble};
use crate::model::{PodNews, SeenPod};

/// A watch that ends sooner, and without an event, is not asked for again at once.
const SHORT: Duration = Duration::from_secs(1);

/// What is learned of the cluster.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ApiNews {
    Pods(PodNews),
    /// The server cannot be asked, and why.
    Trouble(String),
}

/// The pauses behind requests that failed: each is twice the one before it.
#[derive(Clone, Copy, Debug)]
pub struct RetryPace {
    pub first: Duration,
    pub longest: Duration,
}

impl Default for RetryPace {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(60),
        }
    }
}

/// The listener wants no more.
struct Enough;

/// Where it goes on.
enum Next {
    Watch,
    List,
}

struct Follower<'a> {
    server: &'a ApiServer,
    pace: RetryPace,
    pause: Duration,
    tell: &'a mut dyn FnMut(ApiNews) -> bool,
}

/// Tells what happens to pods until `tell` returns false. That may take a word of the server more.
pub fn follow(server: &ApiServer, pace: RetryPace, tell: &mut dyn FnMut(ApiNews) -> bool) {
    let mut follower = Follower {
        server,
        pace,
        pause: pace.first,
        tell,
    };
    while follower.list_and_watch().is_ok() {}
}

impl Follower<'_> {
    fn tell(&mut self, news: ApiNews) -> Result<(), Enough> {
        match (self.tell)(news) {
            true => Ok(()),
            false => Err(Enough),
        }
    }

    fn tell_trouble(&mut self, trouble: &ApiTrouble) -> Result<(), Enough> {
        match trouble {
            ApiTrouble::Expired => Ok(()),
            trouble => self.tell(ApiNews::Trouble(trouble.to_string())),
        }
    }

    fn pause(&mut self) {
        thread::sleep(self.pause);
        self.pause = self.pace.longest.min(self.pause * 2);
    }

    /// From one list to the next.
    fn list_and_watch(&mut self) -> Result<(), Enough> {
        let listed = self.server.connect().and_then(|api| {
            let (pods, version) = list(&api)?;
            Ok((api, pods, version))
        });
        let (api, pods, mut version) = match listed {
            Ok(listed) => listed,
            Err(trouble) => {
                self.tell_trouble(&trouble)?;
                self.pause();
                return Ok(());
            }
        };
        self.tell(ApiNews::Pods(PodNews::Listed(pods)))?;
        loop {
            let began = Instant::now();
            let before = version.clone();
            match self.watch(&api, &mut version)? {
                Next::List => {
                    self.pause();
                    return Ok(());
                }
                // A server that ends each watch at once is not asked without a pause.
                Next::Watch if version == before && began.elapsed() < SHORT => self.pause(),
                Next::Watch => {}
            }
        }
    }

    /// Tells what a watch from this version on tells, which it moves on.
    fn watch(&mut self, api: &ApiConnection<'_>, version: &mut String) -> Result<Next, Enough> {
        let mut stream = match api.watch(version) {
            Ok(stream) => stream,
            Err(trouble) => {
                self.tell_trouble(&trouble)?;
                return Ok(Next::List);
            }
        };
        self.tell(ApiNews::Pods(PodNews::Current))?;
        loop {
            let event = match stream.event() {
                Ok(Some(event)) => event,
                // A connection that is cut is nothing unusual: what it told holds.
                Ok(None) | Err(ApiTrouble::Cut(_)) => return Ok(Next::Watch),
                Err(trouble) => {
                    self.tell_trouble(&trouble)?;
                    return Ok(Next::List);
                }
            };
            let (news, reached) = match event {
                WatchEvent::Seen(pod, reached) => (PodNews::Seen(pod), reached),
                WatchEvent::Gone(uid, reached) => (PodNews::Gone(uid), reached),
                WatchEvent::Bookmark(reached) => (PodNews::Current, reached),
                WatchEvent::Unknown => continue,
                WatchEvent::Expired => return Ok(Next::List),
                WatchEvent::Failed(why) => {
                    self.tell_trouble(&ApiTrouble::Refused(why))?;
                    return Ok(Next::List);
                }
            };
            if !reached.is_empty() {
                *version = reached;
            }
            self.pause = self.pace.first;
            self.tell(ApiNews::Pods(news))?;
        }
    }
}

/// All parts of a list.
fn list(api: &ApiConnection<'_>) -> Result<(Vec<SeenPod>, String), ApiTrouble> {
    let mut pods = Vec::new();
    let mut next = String::new();
    loop {
        let part = api.list(&next)?;
        pods.extend(part.pods);
        if part.next.is_empty() {
            return Ok((pods, part.version));
        }
        next = part.next;
    }
}
