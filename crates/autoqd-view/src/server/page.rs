//! The page itself, bundled into the program.

use axum::body::Body;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

/// What `npm run build` left in `web/dist`; nothing if it did not run.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Page;

/// Whether the page is part of this program.
pub fn is_built() -> bool {
    Page::get("index.html").is_some()
}

const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>autoqd</title>\
    <p>The explorer's page is not part of this program. Take a released tarball, which has it; or install Node 20 or \
    newer, run <code>make web</code> in a checkout of the project, and build the program there again.</p></html>";

/// A file of the page by its exact name; there is no file system behind it.
pub(super) async fn serve(method: Method, uri: Uri) -> Response {
    if method == Method::POST {
        return (StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n").into_response();
    }
    let name = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    match Page::get(name) {
        Some(file) => {
            // Everything but the entry page has the digest of its content in its name.
            let cache =
                if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
            let headers = [(header::CONTENT_TYPE, content_type(name)), (header::CACHE_CONTROL, cache)];
            (headers, Body::from(file.data.into_owned())).into_response()
        }
        None if name == "index.html" => {
            let headers = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
            (StatusCode::SERVICE_UNAVAILABLE, headers, NOT_BUILT).into_response()
        }
        None => (StatusCode::NOT_FOUND, "no such page\n").into_response(),
    }
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "woff2" => "font/woff2",
        "json" => "application/json",
        _ => "application/octet-stream",
    }
}
