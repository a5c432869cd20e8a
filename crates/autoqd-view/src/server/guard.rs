//! Checks on every request and headers of every response.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Shared;

const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
         font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
];

/// Rejects what is not addressed to this server or comes from another origin, and sets the headers.
pub(super) async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let mut response = match refusal(&shared, request.method(), request.headers()) {
        Some((status, reason)) => (status, reason).into_response(),
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn refusal(shared: &Shared, method: &Method, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
    if ![Method::GET, Method::HEAD, Method::POST].contains(method) {
        return Some((StatusCode::METHOD_NOT_ALLOWED, "only GET, HEAD and POST\n"));
    }
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let host = text(header::HOST).unwrap_or("");
    // Another site's name that resolves to this machine still sends its own name.
    if shared.hosts.as_ref().is_some_and(|hosts| !hosts.iter().any(|h| h == host)) {
        return Some((
            StatusCode::MISDIRECTED_REQUEST,
            "this server answers to 127.0.0.1 and localhost only\n",
        ));
    }
    let foreign = text(header::ORIGIN).is_some_and(|origin| origin != format!("http://{host}"));
    foreign.then_some((StatusCode::FORBIDDEN, "requests from pages of another origin are refused\n"))
}
