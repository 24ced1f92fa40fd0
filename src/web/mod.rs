//! Everything that is served by HTTP: the only room that knows axum and tokio.

mod agent_listener;
mod api;
mod assets;
mod attended;
mod cached_text;
mod compression;
mod event_entry;
mod events;
mod form;
mod groups;
mod guard;
mod health;
mod history_response;
mod news;
mod pairs;
mod parameters;
mod places;
mod queries;
mod responses;
mod series;
mod server;
mod short_status;
mod state;
mod timed_stream;

pub use agent_listener::AgentListener;
pub use api::{PageSources, page};
pub use axum::Router;
pub use cached_text::{CachedText, metrics};
pub use event_entry::EventEntry;
pub use health::health;
pub use queries::AnswerCall;
pub use server::{HttpListener, HttpServer, LONGEST_REQUEST, MOST_CONNECTIONS, PATIENCE, WebError};
