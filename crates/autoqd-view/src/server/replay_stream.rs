//! A policy at work, sent frame by frame while it is simulated.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::rejection::JsonRejection;
use axum::extract::{Json, Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::mpsc::Sender;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_stream::wrappers::ReceiverStream;

use super::Shared;
use super::api::{failed, no_such_run, refuse};
use super::catalog::with_header;
use crate::run_view::{Change, Player, Step};
use crate::{RunView, ViewError};

/// Frames sent together: small at the start, so that motion begins at once.
const FIRST_CHUNK: usize = 8;
const CHUNK: usize = 64;
/// A reader that takes nothing for this long is gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// What to simulate.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplayRequest {
    /// Id of the elite.
    id: u64,
    /// Which of the episodes it was evaluated with.
    #[serde(default)]
    episode: usize,
    #[serde(default = "one")]
    friction_scale: f64,
    #[serde(default = "one")]
    mass_scale: f64,
}

fn one() -> f64 {
    1.0
}

impl ReplayRequest {
    fn change(&self) -> Option<Change> {
        let change = Change { friction_scale: self.friction_scale, mass_scale: self.mass_scale };
        change.is_allowed().then_some(change)
    }
}

/// `POST /api/runs/{run}/replay`: a JSON header, then per frame the poses of all shapes (position, rotation row
/// by row), the reward and a mark (1 terminated, 2 truncated, 4 cut off), all as little-endian floats.
pub(super) async fn replay(
    State(shared): State<Arc<Shared>>,
    Path(run): Path<String>,
    request: Result<Json<ReplayRequest>, JsonRejection>,
) -> Response {
    let Some(entry) = shared.catalog.get(&run) else { return no_such_run() };
    let Ok(Json(request)) = request else {
        return refuse(StatusCode::BAD_REQUEST, "the request is not as expected");
    };
    let Some(change) = request.change() else {
        return refuse(StatusCode::BAD_REQUEST, "friction_scale and mass_scale must be between 0.05 and 20");
    };
    let snapshot = entry.snapshot();
    let Some(row) = snapshot.table.row_of(request.id) else {
        return refuse(StatusCode::NOT_FOUND, "no such elite; the archive may have changed");
    };
    let seeds = snapshot.table.seeds.row(row);
    let Some(seed) = seeds.get(request.episode).or(seeds.first()).copied() else {
        return refuse(StatusCode::NOT_FOUND, "the archive holds no seeds for this elite");
    };
    let parameters = snapshot.table.parameters.row(row).to_vec();
    let Some(permit) = turn(&shared).await else {
        let response = refuse(StatusCode::SERVICE_UNAVAILABLE, "too many simulations at once; try again");
        return ([(header::RETRY_AFTER, "1")], response).into_response();
    };
    start(shared.clone(), run, Job { parameters, seed, change, permit }).await
}

/// Waits for a place to simulate; `None` if too many wait already.
pub(super) async fn turn(shared: &Shared) -> Option<OwnedSemaphorePermit> {
    let _waiting = shared.waiting.clone().try_acquire_owned().ok()?;
    shared.simulations.clone().acquire_owned().await.ok()
}

struct Job {
    parameters: Vec<f64>,
    seed: u64,
    change: Change,
    permit: OwnedSemaphorePermit,
}

async fn start(shared: Arc<Shared>, run: String, job: Job) -> Response {
    let deadline = Instant::now() + shared.config.simulation_time;
    let (sender, receiver) = mpsc::channel::<Result<Bytes, std::io::Error>>(8);
    let (ready, started) = tokio::sync::oneshot::channel();
    let handle = Handle::current();
    tokio::task::spawn_blocking(move || {
        let Job { parameters, seed, change, permit } = job;
        let _permit = permit;
        let Some(entry) = shared.catalog.get(&run) else { return };
        match begin(&entry.run, &parameters, seed, change) {
            Ok((player, header)) => {
                if ready.send(Ok(())).is_ok() {
                    let mut out = Outlet { sender, handle };
                    if out.send(header) {
                        stream(player, deadline, &mut out);
                    }
                }
            }
            // If this fails, nobody is waiting for the answer any more.
            Err(error) => drop(ready.send(Err(error))),
        }
    });
    match started.await {
        Ok(Ok(())) => {
            let headers =
                [(header::CONTENT_TYPE, "application/octet-stream"), (header::CACHE_CONTROL, "no-store")];
            (headers, Body::from_stream(ReceiverStream::new(receiver))).into_response()
        }
        Ok(Err(error)) => failed(&error),
        Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "the simulation could not be started"),
    }
}

fn begin(run: &RunView, parameters: &[f64], seed: u64, change: Change) -> Result<(Player, Bytes), ViewError> {
    let player = run.play(parameters, seed, change)?;
    let header = json!({
        "scene": player.scene(),
        "steps": run.task().spec().max_episode_steps,
        // As text: a seed does not fit a JavaScript number.
        "seed": seed.to_string(),
    });
    let header = with_header(&header.to_string(), Vec::new(), 4);
    Ok((player, header))
}

/// The channel to the page; closed when the page is.
struct Outlet {
    sender: Sender<Result<Bytes, std::io::Error>>,
    handle: Handle,
}

impl Outlet {
    /// False when nobody is reading any more.
    fn send(&mut self, bytes: Bytes) -> bool {
        let send = tokio::time::timeout(PATIENCE, self.sender.send(Ok(bytes)));
        matches!(self.handle.block_on(send), Ok(Ok(())))
    }
}

fn stream(mut player: Player, deadline: Instant, out: &mut Outlet) {
    let mut chunk = Vec::new();
    let (mut frames, mut wanted) = (1, FIRST_CHUNK);
    push_frame(&mut chunk, &player, None, false);
    loop {
        let late = Instant::now() > deadline;
        // A task that fails in the middle of an episode ends it; what was sent so far stays valid.
        let step = if late { None } else { player.step().ok().flatten() };
        match step {
            Some(step) => push_frame(&mut chunk, &player, Some(step), false),
            None => {
                if late {
                    push_frame(&mut chunk, &player, None, true);
                }
                out.send(Bytes::from(chunk));
                return;
            }
        }
        frames += 1;
        if frames >= wanted {
            if !out.send(Bytes::from(std::mem::take(&mut chunk))) {
                return;
            }
            (frames, wanted) = (0, CHUNK);
        }
    }
}

fn push_frame(chunk: &mut Vec<u8>, player: &Player, step: Option<Step>, cut: bool) {
    let mut push = |value: f64| chunk.extend((value as f32).to_le_bytes());
    for pose in player.poses() {
        pose.position.iter().chain(&pose.rotation).for_each(|v| push(*v));
    }
    push(step.map_or(0.0, |s| s.reward));
    let mark = step.map_or(0, |s| u8::from(s.terminated) + 2 * u8::from(s.truncated)) + 4 * u8::from(cut);
    push(f64::from(mark));
}
