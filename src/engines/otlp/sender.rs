//! The process that sends metrics and logs: its client, its resource and its scopes.

use super::messages::{Attribute, Resource, Scope};
use crate::engines::http::HttpClient;
use crate::model::metrics::{Identity, JOB};

/// Makes a client of the receiver at `url`, to which `/v1/metrics` and `/v1/logs` are appended.
pub(super) fn client(url: &str, headers: Vec<(String, String)>) -> Result<HttpClient, String> {
    HttpClient::new(url.trim_end_matches('/'), headers)
}

/// Returns the resource that describes this process, according to the semantic conventions.
pub(super) fn resource(identity: &Identity) -> Resource {
    Resource {
        attributes: vec![
            Attribute::text("service.name", JOB),
            Attribute::text("service.version", env!("CARGO_PKG_VERSION")),
            Attribute::text("service.instance.id", &identity.instance),
            Attribute::text("host.name", &identity.host),
        ],
    }
}

/// Returns the instrumentation scope of this name: `hostint`, or the schema of the reports.
pub(super) fn scope(name: &str) -> Scope {
    Scope {
        name: name.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
