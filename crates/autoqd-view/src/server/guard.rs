//! Checks on every request and headers of every response.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
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
    let mut response = match refusal(&shared, request.method(), request.uri(), request.headers()) {
        Some((status, reason)) => (status, reason).into_response(),
        None => match shared.token.as_deref() {
            Some(token) if !has_cookie(token, request.headers()) => admit(token, request.uri()),
            _ => match arrived(request, shared.config.request_time).await {
                Ok(request) => next.run(request).await,
                Err(refused) => refused.into_response(),
            },
        },
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Longest body of a request.
const LONGEST: usize = 4096;

/// The request once its body is there: one that never comes must not keep its connection open.
async fn arrived(request: Request, limit: Duration) -> Result<Request, (StatusCode, &'static str)> {
    let (head, body) = request.into_parts();
    match tokio::time::timeout(limit, axum::body::to_bytes(body, LONGEST)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(head, Body::from(bytes))),
        Ok(Err(_)) => Err((StatusCode::PAYLOAD_TOO_LARGE, "the request is too long, or was cut short\n")),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the request took too long\n")),
    }
}

/// Name of the cookie that holds the token.
const COOKIE: &str = "autoqd-token";

fn has_cookie(token: &str, headers: &HeaderMap) -> bool {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.any(|(name, value)| name == COOKIE && same(value, token))
}

/// Whether two words are the same, in a time that does not tell how much of them is.
fn same(a: &str, b: &str) -> bool {
    blake3::hash(a.as_bytes()) == blake3::hash(b.as_bytes())
}

/// Lets a browser in that knows the token, by a cookie, and leads it to the page without the token in its address.
fn admit(token: &str, uri: &Uri) -> Response {
    let mut given = uri.query().unwrap_or("").split('&').filter_map(|pair| pair.strip_prefix("token="));
    if !given.any(|word| same(word, token)) {
        let reason = "open the address that `autoqd explore` printed, with its token\n";
        return (StatusCode::UNAUTHORIZED, reason).into_response();
    }
    let cookie = format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict");
    let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, "/".to_owned())];
    (StatusCode::SEE_OTHER, headers, "").into_response()
}

/// Whether a browser says that a page of another site asks, other than by a link to our page that somebody follows.
fn from_elsewhere(uri: &Uri, headers: &HeaderMap) -> bool {
    let text = |name: &'static str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let elsewhere = text("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
    let link = text("sec-fetch-mode") == Some("navigate") && text("sec-fetch-dest") == Some("document");
    elsewhere && (!link || uri.path().starts_with("/api"))
}

fn refusal(
    shared: &Shared,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
) -> Option<(StatusCode, &'static str)> {
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
    (foreign || from_elsewhere(uri, headers))
        .then_some((StatusCode::FORBIDDEN, "requests from pages of another origin are refused\n"))
}
