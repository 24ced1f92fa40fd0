//! OTLP/HTTP in protobuf, as of OTLP 1.5.0: metrics, and reports as logs.

mod answer;
mod logs;
pub mod messages;
mod metrics;

pub use logs::OtlpLogs;
pub use metrics::OtlpMetrics;

use super::http::HttpClient;
use crate::model::metrics::{Identity, JOB};
use messages::{Attribute, Resource, Scope};

/// A client of the receiver at `url`, to which `/v1/metrics` and `/v1/logs` are appended.
fn client(url: &str, headers: Vec<(String, String)>) -> Result<HttpClient, String> {
    HttpClient::new(url.trim_end_matches('/'), headers)
}

/// Who tells, by the semantic conventions of resources.
fn resource(identity: &Identity) -> Resource {
    Resource {
        attributes: vec![
            Attribute::text("service.name", JOB),
            Attribute::text("service.version", env!("CARGO_PKG_VERSION")),
            Attribute::text("service.instance.id", &identity.instance),
            Attribute::text("host.name", &identity.host),
        ],
    }
}

/// What tells it: `hostint` itself, or the schema of what it tells.
fn scope(name: &str) -> Scope {
    Scope {
        name: name.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
