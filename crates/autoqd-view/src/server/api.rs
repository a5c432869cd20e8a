//! Answers that are data.

use std::sync::Arc;

use autoqd::run_folder::{IterationRow, Row};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::Shared;
use super::catalog::Entry;
use crate::ViewError;

/// An error response with its reason as JSON.
pub(super) fn refuse(status: StatusCode, reason: impl Into<String>) -> Response {
    (status, Json(json!({ "error": reason.into() }))).into_response()
}

/// An internal error; details of the file system are not sent.
pub(super) fn failed(error: &ViewError) -> Response {
    match error {
        ViewError::File { .. } | ViewError::RunFolder(_) | ViewError::Measure(_) => {
            refuse(StatusCode::INTERNAL_SERVER_ERROR, "a file of the run cannot be read")
        }
        // The task rejects the request, such as a perturbation it does not have.
        ViewError::Task(error) => refuse(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()),
        other => refuse(StatusCode::INTERNAL_SERVER_ERROR, other.to_string()),
    }
}

pub(super) fn no_such_run() -> Response {
    refuse(StatusCode::NOT_FOUND, "no such run")
}

/// `GET /api/runs`
pub(super) async fn runs(State(shared): State<Arc<Shared>>) -> Response {
    let list = tokio::task::spawn_blocking(move || {
        let summary = |entry: &Entry| Ok(entry.summary(entry.run.status()?.as_ref()));
        shared.catalog.iter().map(summary).collect::<Result<Vec<_>, ViewError>>()
    });
    match list.await {
        Ok(Ok(list)) => Json(list).into_response(),
        Ok(Err(error)) => failed(&error),
        Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "the status could not be read"),
    }
}

/// `GET /api/runs/{run}/archive`
pub(super) async fn archive(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let Some(entry) = shared.catalog.get(&id) else { return no_such_run() };
    let snapshot = entry.snapshot();
    let tag = format!("\"{}\"", snapshot.version);
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_string()),
        (header::ETAG, tag),
        (header::CACHE_CONTROL, "no-cache".to_string()),
    ];
    (headers, snapshot.wire.clone()).into_response()
}

/// `GET /api/runs/{run}/metrics`: every column as a list; numbers that do not exist are null.
pub(super) async fn metrics(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Response {
    let read = tokio::task::spawn_blocking(move || Some(shared.catalog.get(&id)?.run.metrics()));
    match read.await {
        Ok(Some(Ok(rows))) => Json(columns(&rows)).into_response(),
        Ok(Some(Err(error))) => failed(&error),
        Ok(None) => no_such_run(),
        Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "the metrics could not be read"),
    }
}

fn columns(rows: &[IterationRow]) -> Value {
    let mut columns = Map::new();
    for (name, _) in IterationRow::COLUMNS {
        columns.insert((*name).to_string(), Value::Array(Vec::with_capacity(rows.len())));
    }
    for row in rows {
        let numbers = row.numbers();
        for (name, column) in &mut columns {
            let number = numbers.iter().find(|(n, _)| n == name).map(|(_, value)| *value);
            if let Value::Array(values) = column {
                values.push(number.map_or(Value::Null, Value::from));
            }
        }
    }
    Value::Object(columns)
}

/// Anything else under `/api`.
pub(super) async fn unknown() -> Response {
    refuse(StatusCode::NOT_FOUND, "no such request")
}
