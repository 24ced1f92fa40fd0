//! What is served by HTTP: the only room that knows axum and tokio.

mod server;

pub use axum::Router;
pub use server::{Listener, Server, WebError};
