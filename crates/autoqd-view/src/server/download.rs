//! What the page gives away as files: a film of an elite, and its policy.

use std::sync::Arc;

use autoqd::export::policy_to_onnx;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::Shared;
use super::api::{failed, no_such_run, refuse};
use super::replay_stream::turn;
use crate::render::{Caption, FrameStyle, Renderer, gif};
use crate::run_view::Change;
use crate::{RunView, ViewError};

/// Longest film in seconds.
const LONGEST: f64 = 12.0;

/// Which elite, and for a film under which physics.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Id of the elite.
    id: u64,
    #[serde(default = "one")]
    friction_scale: f64,
    #[serde(default = "one")]
    mass_scale: f64,
    #[serde(default = "usual_seconds")]
    seconds: f64,
}

fn one() -> f64 {
    1.0
}

fn usual_seconds() -> f64 {
    6.0
}

impl Wanted {
    fn change(&self) -> Option<Change> {
        let change = Change { friction_scale: self.friction_scale, mass_scale: self.mass_scale };
        let fits = self.seconds > 0.0 && self.seconds <= LONGEST;
        (change.is_allowed() && fits).then_some(change)
    }
}

/// `GET /api/runs/{run}/film?id=...`: an animated GIF.
pub(super) async fn film(
    State(shared): State<Arc<Shared>>,
    Path(run): Path<String>,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Response {
    let Ok(Query(wanted)) = wanted else { return not_as_expected() };
    let Some(change) = wanted.change() else {
        let limits = "friction_scale and mass_scale must be between 0.05 and 20, seconds at most 12";
        return refuse(StatusCode::BAD_REQUEST, limits);
    };
    // A film is a simulation with a picture of every frame: it waits for its turn as replays do.
    let Some(permit) = turn(&shared).await else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "too many simulations at once; try again");
    };
    let name = format!("{run}-elite-{}.gif", wanted.id);
    let work = move || {
        let _permit = permit;
        let entry = shared.catalog.get(&run)?;
        let snapshot = entry.snapshot();
        let row = snapshot.table.row_of(wanted.id)?;
        Some(draw(&entry.run, &snapshot.table, row, change, wanted.seconds))
    };
    answer(tokio::task::spawn_blocking(work).await, "image/gif", &name)
}

fn draw(
    run: &RunView,
    table: &autoqd::run_folder::ArchiveTable,
    row: usize,
    change: Change,
    seconds: f64,
) -> Result<Vec<u8>, ViewError> {
    let replay = run.replay(table, row, change)?;
    let caption = Caption {
        title: format!("#{}", table.id[row]),
        text: run.caption(table, row, &replay, change),
        note: run.task().spec().name.clone(),
    };
    gif(&Renderer::new(&replay, FrameStyle::default())?, &caption, seconds)
}

/// `GET /api/runs/{run}/policy?id=...`: the policy as an ONNX model.
pub(super) async fn policy(
    State(shared): State<Arc<Shared>>,
    Path(run): Path<String>,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Response {
    let Ok(Query(wanted)) = wanted else { return not_as_expected() };
    let name = format!("{run}-elite-{}.onnx", wanted.id);
    let work = move || {
        let entry = shared.catalog.get(&run)?;
        let snapshot = entry.snapshot();
        let row = snapshot.table.row_of(wanted.id)?;
        let spec = match entry.run.policy() {
            Ok(spec) => spec,
            Err(error) => return Some(Err(error)),
        };
        Some(policy_to_onnx(&spec, snapshot.table.parameters.row(row)).map_err(ViewError::from))
    };
    answer(tokio::task::spawn_blocking(work).await, "application/octet-stream", &name)
}

fn not_as_expected() -> Response {
    refuse(StatusCode::BAD_REQUEST, "the request is not as expected")
}

/// The file, or why there is none. Ids of runs are letters, digits and dashes, so the name needs no quoting.
fn answer(
    done: Result<Option<Result<Vec<u8>, ViewError>>, tokio::task::JoinError>,
    kind: &'static str,
    name: &str,
) -> Response {
    match done {
        Ok(Some(Ok(bytes))) => {
            let headers = [
                (header::CONTENT_TYPE, kind.to_string()),
                (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
                (header::CACHE_CONTROL, "no-store".to_string()),
            ];
            (headers, bytes).into_response()
        }
        Ok(Some(Err(error))) => failed(&error),
        Ok(None) => no_such_run(),
        Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "the file could not be made"),
    }
}
