//! Responses in gzip, for clients that accept it.

use std::io::Write;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Shorter responses fit into one packet as they are.
const SHORTEST: usize = 1400;

/// Longer ones are packed fast, because packing would take most of the time of an answer.
const LONG: usize = 512 << 10;

/// The header of a response that depends on what the client accepts.
pub(super) const VARIES: (HeaderName, &str) = (header::VARY, "accept-encoding");

/// A body as it is sent.
pub(super) struct HttpBody {
    pub(super) bytes: Vec<u8>,
    is_gzip: bool,
}

impl HttpBody {
    pub(super) fn plain(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            is_gzip: false,
        }
    }

    /// In gzip, if the client accepts it and it is worth it.
    pub(super) fn answer(bytes: Vec<u8>, accepts: bool) -> Self {
        if !accepts || bytes.len() < SHORTEST {
            return Self::plain(bytes);
        }
        let level = match bytes.len() {
            0..LONG => Compression::default(),
            _ => Compression::fast(),
        };
        match gzip(&bytes, level) {
            Some(bytes) => Self {
                bytes,
                is_gzip: true,
            },
            None => Self::plain(bytes),
        }
    }

    pub(super) fn header(&self) -> Option<[(HeaderName, &'static str); 1]> {
        self.is_gzip.then_some(GZIP)
    }
}

pub(super) const GZIP: [(HeaderName, &str); 1] = [(header::CONTENT_ENCODING, "gzip")];

/// True if a client says that it understands gzip.
pub(super) fn accepts(headers: &HeaderMap) -> bool {
    let given = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut all = given
        .filter_map(|value| HeaderValue::to_str(value).ok())
        .flat_map(|value| value.split(','));
    all.any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, ""));
        let weight = weight.trim().trim_start_matches("q=");
        name.trim().eq_ignore_ascii_case("gzip") && weight.parse() != Ok(0.0)
    })
}

/// `None`: there is no memory for it.
pub(super) fn gzip(bytes: &[u8], level: Compression) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}
