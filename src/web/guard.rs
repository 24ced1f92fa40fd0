//! Checks on every request and headers on every response.

use std::net::{IpAddr, SocketAddr};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};

/// Greatest length of a path with its parameters.
const MOST_URI: usize = 4096;

/// The page loads only its own files, cannot be framed, and no other page may load any of it.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
         trusted-types 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// The routes with these checks, and a response for unknown paths.
pub(super) fn around(routes: Router, bound: SocketAddr) -> Router {
    routes
        .fallback(nothing)
        .layer(middleware::from_fn_with_state(bound, guard))
}

async fn nothing(uri: Uri) -> Response {
    let text = format!("there is nothing at {}\n", uri.path());
    (StatusCode::NOT_FOUND, text).into_response()
}

async fn guard(State(bound): State<SocketAddr>, request: Request, next: Next) -> Response {
    let mut response = match refusal(&request, bound.ip()) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let cache = headers.entry(header::CACHE_CONTROL);
    cache.or_insert(HeaderValue::from_static("no-store"));
    response
}

fn refusal(request: &Request, bound: IpAddr) -> Option<(StatusCode, String)> {
    let length = request
        .uri()
        .path_and_query()
        .map_or(0, |all| all.as_str().len());
    if length > MOST_URI {
        let text = format!("path and parameters are longer than {MOST_URI} bytes\n");
        return Some((StatusCode::URI_TOO_LONG, text));
    }
    let named = request.headers().get(header::HOST);
    let host = match (request.uri().authority(), named.map(HeaderValue::to_str)) {
        (Some(authority), _) => authority.as_str(),
        (None, Some(Ok(host))) => host,
        (None, _) => {
            let text = "the request has no Host header that can be read\n".to_owned();
            return Some((StatusCode::BAD_REQUEST, text));
        }
    };
    (!may_be_asked_as(host, bound)).then(|| {
        let text = format!(
            "this is served on {bound} for this host alone, not for {host:?} (try http://localhost)\n"
        );
        (StatusCode::FORBIDDEN, text)
    })
}

/// A foreign DNS name that resolves to this host would let a foreign page read data that is meant for this host only.
fn may_be_asked_as(host: &str, bound: IpAddr) -> bool {
    if !bound.is_loopback() {
        return true;
    }
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => host.split(':').next(),
    };
    let name = name.unwrap_or_default();
    let address: Option<IpAddr> = name.parse().ok();
    name.eq_ignore_ascii_case("localhost") || address.is_some_and(|address| address.is_loopback())
}
