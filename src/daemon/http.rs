//! The HTTP server of a daemon.

use std::thread;

use anyhow::{Context, Result, anyhow};

use super::privileges::give_up_all_but;
use crate::config::ConfigError;
use crate::os::{log, resolve};
use crate::web::{HttpListener, HttpServer, Router};

/// Binds the address of `--http`; the caller still has the privileges that a low port takes.
pub fn bind(given: Option<&str>, default_port: u16) -> Result<Option<HttpListener>> {
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
    log::info(format_args!("serving http://{}", server.address()));
    Ok(server)
}
