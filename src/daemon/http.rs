//! The HTTP server of a daemon.

use std::os::unix::process::parent_id;
use std::thread;

use anyhow::{Context, Result, anyhow};

use super::privileges::give_up_all_but;
use crate::config::ConfigError;
use crate::os::{log, resolve};
use crate::web::{AgentListener, HttpListener, HttpServer, Router};

/// The variable that names the address at which a role answers its agent, which asks for metrics.
pub const AGENT_ADDRESS: &str = "HOSTINT_AGENT_ADDRESS";

/// Binds the address of `--http`, and the one for the agent that started this process; the caller still has the privileges that
/// a low port takes.
pub fn bind(given: Option<&str>, default_port: u16) -> Result<Option<HttpListener>> {
    let open = bind_open(given, default_port)?;
    let Ok(name) = std::env::var(AGENT_ADDRESS) else {
        return Ok(open);
    };
    match AgentListener::bind(&name, parent_id().cast_signed()) {
        Ok(agent) => Ok(Some(HttpListener::with_agent(open, agent))),
        Err(err) => {
            log::warning(format_args!(
                "the agent gets no metrics of this role: cannot listen on @{name}: {err}"
            ));
            Ok(open)
        }
    }
}

fn bind_open(given: Option<&str>, default_port: u16) -> Result<Option<HttpListener>> {
    let Some(text) = given else {
        return Ok(None);
    };
    let address = resolve::socket_address(text, default_port)
        .map_err(|err| ConfigError::one(format!("cannot serve HTTP on {text}: {err}")))?;
    let listener = HttpListener::bind(address)
        .with_context(|| format!("cannot serve HTTP on {text} (try another address or port)"))?;
    if !address.ip().is_loopback() {
        log::warning(format_args!(
            "HTTP on {address}: everybody who reaches this address may read it, for there is no authentication \
             (see --http)"
        ));
    }
    Ok(Some(listener))
}

/// Serves from now on, by a thread without privileges: it reads bytes of strangers.
pub fn serve(listener: HttpListener, routes: Router) -> Result<HttpServer> {
    let begin = move || -> Result<HttpServer> {
        give_up_all_but(&[])?;
        Ok(listener.serve(routes)?)
    };
    let begun = thread::Builder::new()
        .spawn(begin)
        .map(|begin| begin.join());
    let server = match begun.context("cannot begin to serve HTTP")? {
        Ok(server) => server.context("cannot begin to serve HTTP")?,
        Err(_) => return Err(anyhow!("cannot begin to serve HTTP")),
    };
    if let Some(address) = server.address() {
        log::info(format_args!("serving http://{address}"));
    }
    Ok(server)
}
