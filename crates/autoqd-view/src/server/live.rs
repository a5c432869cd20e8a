//! A page that follows a run: an event whenever the log or the archive changed.

use std::sync::Arc;
use std::time::SystemTime;

use autoqd::run_folder::METRICS_FILE;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::Shared;
use super::api::{no_such_run, refuse};

/// `GET /api/runs/{run}/live`: server-sent events with the run's summary.
pub(super) async fn follow(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Response {
    if shared.catalog.get(&id).is_none() {
        return no_such_run();
    }
    let Ok(permit) = shared.followers.clone().try_acquire_owned() else {
        return refuse(StatusCode::TOO_MANY_REQUESTS, "too many pages follow runs; close some");
    };
    let (sender, receiver) = mpsc::channel::<Result<String, std::convert::Infallible>>(4);
    tokio::spawn(async move {
        let _permit = permit;
        let mut last = String::new();
        let mut quiet = 0;
        let mut ticks = tokio::time::interval(shared.config.poll);
        loop {
            // A page that was closed is noticed at once, not at the next event.
            tokio::select! {
                _ = ticks.tick() => {}
                () = sender.closed() => return,
            }
            let Some(event) = look(&shared, &id).await else { return };
            let message = if event != last {
                quiet = 0;
                format!("data: {event}\n\n")
            } else if quiet >= 20 {
                quiet = 0;
                ": still here\n\n".to_string()
            } else {
                quiet += 1;
                continue;
            };
            last = event;
            if sender.send(Ok(message)).await.is_err() {
                return;
            }
        }
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(ReceiverStream::new(receiver))).into_response()
}

/// The run's summary as JSON, after reading what changed; `None` if the run folder is gone.
async fn look(shared: &Arc<Shared>, id: &str) -> Option<String> {
    let (shared, id) = (shared.clone(), id.to_string());
    let look = tokio::task::spawn_blocking(move || {
        let entry = shared.catalog.get(&id)?;
        entry.refresh();
        let status = entry.run.status().ok()?;
        let log = entry.run.run().run_folder().and_then(|folder| folder.join(METRICS_FILE).metadata().ok());
        let changed =
            log.and_then(|m| m.modified().ok()).and_then(|t| t.duration_since(SystemTime::UNIX_EPOCH).ok());
        let mut summary = serde_json::to_value(entry.summary(status.as_ref())).ok()?;
        summary["metricsVersion"] = changed.map_or(0, |t| t.as_millis() as u64).into();
        Some(summary.to_string())
    });
    look.await.ok().flatten()
}
