//! The files of the page, which are part of the binary.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use flate2::Compression;

use super::compression::{self, GZIP, VARIES};

struct Asset {
    path: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
}

macro_rules! assets {
    ($($path:literal is $file:literal, $content_type:expr;)*) => {
        &[$(Asset {
            path: $path,
            content_type: $content_type,
            bytes: include_bytes!(concat!("assets/", $file)),
        }),*]
    };
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

const ASSETS: &[Asset] = assets! {
    "/" is "index.html", HTML;
    "/icon.svg" is "icon.svg", "image/svg+xml";
    "/style.css" is "style.css", CSS;
    "/figures.css" is "figures.css", CSS;
    "/app.js" is "app.js", SCRIPT;
    "/api.js" is "api.js", SCRIPT;
    "/chart.js" is "chart.js", SCRIPT;
    "/colour.js" is "colour.js", SCRIPT;
    "/coverage.js" is "coverage.js", SCRIPT;
    "/mx_pairs.js" is "mx_pairs.js", SCRIPT;
    "/dom.js" is "dom.js", SCRIPT;
    "/drops.js" is "drops.js", SCRIPT;
    "/edge.js" is "edge.js", SCRIPT;
    "/fed.js" is "fed.js", SCRIPT;
    "/figures.js" is "figures.js", SCRIPT;
    "/freshness.js" is "freshness.js", SCRIPT;
    "/flow.js" is "flow.js", SCRIPT;
    "/flows.js" is "flows.js", SCRIPT;
    "/groups.js" is "groups.js", SCRIPT;
    "/help.js" is "help.js", SCRIPT;
    "/hops.js" is "hops.js", SCRIPT;
    "/host.js" is "host.js", SCRIPT;
    "/hosts.js" is "hosts.js", SCRIPT;
    "/hosts_view.js" is "hosts_view.js", SCRIPT;
    "/legend.js" is "legend.js", SCRIPT;
    "/marks.js" is "marks.js", SCRIPT;
    "/matrix.js" is "matrix.js", SCRIPT;
    "/names.js" is "names.js", SCRIPT;
    "/overview.js" is "overview.js", SCRIPT;
    "/pair.js" is "pair.js", SCRIPT;
    "/path.js" is "path.js", SCRIPT;
    "/queues.js" is "queues.js", SCRIPT;
    "/reports.js" is "reports.js", SCRIPT;
    "/services.js" is "services.js", SCRIPT;
    "/split.js" is "split.js", SCRIPT;
    "/stacked.js" is "stacked.js", SCRIPT;
    "/state.js" is "state.js", SCRIPT;
    "/tables.js" is "tables.js", SCRIPT;
    "/tcp.js" is "tcp.js", SCRIPT;
    "/tcp_chart.js" is "tcp_chart.js", SCRIPT;
    "/tip.js" is "tip.js", SCRIPT;
    "/theme.js" is "theme.js", SCRIPT;
    "/verdict.js" is "verdict.js", SCRIPT;
    "/units.js" is "units.js", SCRIPT;
    "/waterfall.js" is "waterfall.js", SCRIPT;
};

/// A file as it is sent, with its tag.
struct Representation {
    tag: String,
    bytes: Bytes,
}

/// One route per file; a browser that has the file asks whether it has changed.
pub(super) fn routes() -> Router {
    ASSETS.iter().fold(Router::new(), |routes, asset| {
        let plain = Representation::of(Bytes::from_static(asset.bytes));
        // It is made for the first browser that accepts it: a collector whose page is not read needs none.
        let packed = LazyLock::new(|| {
            let best = compression::gzip(asset.bytes, Compression::best());
            best.map(|bytes| Representation::of(bytes.into()))
        });
        let both = Arc::new((plain, packed));
        let send = move |headers: HeaderMap| {
            let (plain, packed) = &*both;
            let packed = compression::accepts(&headers).then(|| packed.as_ref());
            let response = match packed.flatten() {
                Some(packed) => (GZIP, answer(asset, packed, &headers)).into_response(),
                None => answer(asset, plain, &headers),
            };
            async move { response }
        };
        routes.route(asset.path, get(send))
    })
}

impl Representation {
    fn of(bytes: Bytes) -> Self {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let tag = format!("\"{:016x}\"", hasher.finish());
        Self { tag, bytes }
    }
}

fn answer(asset: &Asset, of: &Representation, headers: &HeaderMap) -> Response {
    let tag = of.tag.as_str();
    let has = headers.get(header::IF_NONE_MATCH).map(HeaderValue::to_str);
    let fresh = match has {
        Some(Ok(tags)) => tags.split(',').any(|one| {
            let one = one.trim();
            one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag
        }),
        _ => false,
    };
    let headers = [
        (header::ETAG, tag),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_TYPE, asset.content_type),
        VARIES,
    ];
    if fresh {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, of.bytes.clone()).into_response()
}
