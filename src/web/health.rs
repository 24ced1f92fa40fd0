//! `/healthz` and `/readyz`: whether a daemon lives, and whether it does its work.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;

/// Both functions return one sentence per problem, and nothing if all is well. They run on the serving thread and must
/// not block.
pub fn health(
    alive: impl Fn() -> Vec<String> + Clone + Send + Sync + 'static,
    ready: impl Fn() -> Vec<String> + Clone + Send + Sync + 'static,
) -> Router {
    Router::new()
        .route("/healthz", get(move || async move { answer(&alive()) }))
        .route("/readyz", get(move || async move { answer(&ready()) }))
}

fn answer(lacking: &[String]) -> (StatusCode, String) {
    if lacking.is_empty() {
        return (StatusCode::OK, "ok\n".to_owned());
    }
    let lines = lacking.iter().map(|line| format!("{line}\n"));
    (StatusCode::SERVICE_UNAVAILABLE, lines.collect())
}
