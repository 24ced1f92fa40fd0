//! Everything that is served by HTTP: the only room that knows axum and tokio.

mod answers;
mod api;
mod ask;
mod assets;
mod guard;
mod health;
mod live;
mod parameters;
mod patient;
mod reading;
mod server;

pub use api::{Page, page};
pub use axum::Router;
pub use health::health;
pub use reading::{Reading, metrics};
pub use server::{LONGEST_REQUEST, Listener, MOST_CONNECTIONS, PATIENCE, Server, WebError};
