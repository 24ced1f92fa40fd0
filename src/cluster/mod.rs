//! The API server of a Kubernetes cluster, asked for one thing: which pod has which address.

mod answers;
mod api_server;
mod follow;

pub use answers::{PodListPart, WatchEvent, part_of, watch_event};
pub use api_server::{ApiConnection, ApiServer, ApiTrouble, WatchStream};
pub use follow::{ApiNews, RetryPace, follow};
