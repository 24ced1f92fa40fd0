//! The pods of a cluster: a thread asks its API server, and the book of what it said is there for all.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context, Result};

use super::wall;
use crate::config::KubernetesConfig;
use crate::model::{PodBook, PodNews, PodsStatus};
use crate::os::{log, wait};
use crate::store::OpenedStore;

/// The most news that wait. The server is not read from while there are as many.
const MOST_WAITING: usize = 1024;

/// What lines name pods by, while the book goes on.
pub type SharedPods = Arc<Mutex<PodBook>>;

/// What the thread says, or why it cannot.
type PodsTold = Result<PodNews, String>;

/// The pods, as far as the API server has told of them.
pub struct ClusterPods {
    told: Receiver<(PodsTold, u64)>,
    book: SharedPods,
    /// What is in the way, if the log says so already.
    trouble: Option<String>,
    is_listed: bool,
}

pub fn lock(book: &SharedPods) -> MutexGuard<'_, PodBook> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ClusterPods {
    /// Starts the thread, if an API server is to be asked. The book is that which an earlier run left in the store.
    ///
    /// # Errors
    /// If this hostint cannot ask, or does not know whom.
    pub fn begin(
        config: Option<&KubernetesConfig>,
        store: Option<&OpenedStore>,
    ) -> Result<Option<Self>> {
        let book = || store.map(OpenedStore::pods).unwrap_or_default();
        config.map(|config| Self::start(config, book())).transpose()
    }

    fn start(config: &KubernetesConfig, book: PodBook) -> Result<Self> {
        let (tell, told) = sync_channel(MOST_WAITING);
        start_asking(config, move |news| {
            let is_heard = tell.send((news, wall::now_ns())).is_ok();
            wait::wake();
            is_heard
        })?;
        Ok(Self {
            told,
            book: Arc::new(Mutex::new(book)),
            trouble: None,
            is_listed: false,
        })
    }

    pub fn book(&self) -> SharedPods {
        Arc::clone(&self.book)
    }

    pub fn status(&self) -> PodsStatus {
        let book = lock(&self.book);
        PodsStatus {
            named: book.present() as u64,
            told_ns: book.current_ns(),
            trouble: self.trouble.clone(),
        }
    }

    /// Takes what was told. Returns true if it was something.
    pub fn take_told(&mut self) -> bool {
        let mut is_news = false;
        while let Ok((told, now_ns)) = self.told.try_recv() {
            match told {
                Ok(news) => {
                    let is_list = matches!(news, PodNews::Listed(_));
                    lock(&self.book).take(news, now_ns);
                    self.works(is_list);
                    is_news = true;
                }
                Err(why) => {
                    self.fails(why);
                    is_news = true;
                }
            }
        }
        is_news
    }

    fn works(&mut self, is_list: bool) {
        let was_failing = self.trouble.take().is_some();
        if is_list && (was_failing || !self.is_listed) {
            let pods = lock(&self.book).present();
            log::info(format_args!("pods of the cluster that have names: {pods}"));
            self.is_listed = true;
        }
    }

    /// Says each trouble once, until it is another or over.
    fn fails(&mut self, why: String) {
        if self.trouble.as_ref() != Some(&why) {
            log::warning(format_args!(
                "cannot ask the API server for pods, so names of new ones are missing: {why}"
            ));
        }
        self.trouble = Some(why);
    }
}

/// Asks the API server on a thread of its own, for as long as `tell` returns true. It ends with its process.
#[cfg(feature = "http-client")]
fn start_asking(
    config: &KubernetesConfig,
    mut tell: impl FnMut(PodsTold) -> bool + Send + 'static,
) -> Result<()> {
    use crate::cluster::{ApiNews, ApiServer, RetryPace, follow};

    let url = match &config.url {
        Some(url) => url.clone(),
        None => in_cluster()?,
    };
    let server = ApiServer::new(&url, &config.account);
    log::info(format_args!("asking {url} for the names of pods"));
    let thread = thread::Builder::new().name("pods".to_owned());
    let asking = move || {
        follow(&server, RetryPace::default(), &mut |news| match news {
            ApiNews::Pods(news) => tell(Ok(news)),
            ApiNews::Trouble(why) => tell(Err(why)),
        });
    };
    thread.spawn(asking).context("cannot start a thread")?;
    Ok(())
}

/// The same of a hostint without an HTTP client.
#[cfg(not(feature = "http-client"))]
fn start_asking(
    _config: &KubernetesConfig,
    _tell: impl FnMut(PodsTold) -> bool + Send + 'static,
) -> Result<()> {
    let _ = (thread::current, in_cluster);
    anyhow::bail!("cannot name pods: this hostint was built without an HTTP client")
}

/// The URL by which pods reach the API server of their cluster.
fn in_cluster() -> Result<String> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let host = variable("KUBERNETES_SERVICE_HOST").context(
        "cannot name pods: this is no pod of a cluster (try --kubernetes with the URL of an API server)",
    )?;
    let port = variable("KUBERNETES_SERVICE_PORT").unwrap_or_else(|| "443".to_owned());
    let host = match host.contains(':') {
        true => format!("[{host}]"),
        false => host,
    };
    Ok(format!("https://{host}:{port}"))
}
