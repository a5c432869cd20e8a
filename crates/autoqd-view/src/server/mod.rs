//! The explorer's server: the page, the runs it may show, and policies at work on request.
//!
//! It reads the named run folders and nothing else, writes nothing, and simulates at most a few episodes at a
//! time, each bounded in time. On this machine it answers only requests that are addressed to it by its own name, so that
//! no page of another origin can reach it through a browser; if other machines can reach it, it asks for a token.

mod api;
mod catalog;
mod download;
mod guard;
mod live;
mod page;
mod replay_stream;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use self::catalog::Catalog;
use crate::{RunView, ViewError};

pub use page::is_built as page_is_built;

/// Where to listen and how much to allow.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Address; 127.0.0.1 unless told otherwise.
    pub address: IpAddr,
    /// Port; 0 takes any that is free.
    pub port: u16,
    /// Episodes simulated at the same time.
    pub simulations: usize,
    /// Requests that may wait for a simulation; more are rejected.
    pub waiting: usize,
    /// Longest time one episode may take.
    pub simulation_time: Duration,
    /// Longest time the head of a request may take, and its body.
    pub request_time: Duration,
    /// Pages that may follow a run at the same time.
    pub followers: usize,
    /// How often a followed run folder is checked.
    pub poll: Duration,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            simulations: 4,
            waiting: 32,
            simulation_time: Duration::from_secs(20),
            request_time: Duration::from_secs(10),
            followers: 32,
            poll: Duration::from_millis(500),
        }
    }
}

/// The state that every request can use.
struct Shared {
    catalog: Catalog,
    config: ServerConfig,
    simulations: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    followers: Arc<Semaphore>,
    /// Names under which a browser may address this server; none when it listens for other machines.
    hosts: Option<Vec<String>>,
    /// What a browser must know when the server listens for other machines.
    token: Option<String>,
}

/// A server that is bound but not yet answering.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    head_time: Duration,
    token: Option<String>,
}

impl Server {
    /// Reads the archives and opens the port.
    pub async fn bind(runs: Vec<RunView>, config: ServerConfig) -> Result<Self, ViewError> {
        let wanted = SocketAddr::new(config.address, config.port);
        let listen = |reason: std::io::Error| ViewError::Listen { address: wanted, reason };
        let listener = TcpListener::bind(wanted).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let catalog = Catalog::new(runs)?;
        let port = address.port();
        let hosts = address.ip().is_loopback().then(|| host_names(port));
        let token = hosts.is_none().then(new_token).transpose().map_err(listen)?;
        let head_time = config.request_time;
        let shared = Arc::new(Shared {
            catalog,
            simulations: Arc::new(Semaphore::new(config.simulations.max(1))),
            waiting: Arc::new(Semaphore::new(config.waiting.max(1))),
            followers: Arc::new(Semaphore::new(config.followers.max(1))),
            hosts,
            token: token.clone(),
            config,
        });
        Ok(Self { listener, address, router: router(shared), head_time, token })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to open in a browser: the address, with the token if one is needed.
    pub fn url(&self) -> String {
        let token = self.token.as_ref().map_or_else(String::new, |token| format!("?token={token}"));
        format!("http://{}/{token}", self.address)
    }

    /// Answers until `stop` completes.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), ViewError> {
        // Not a graceful shutdown: that would wait for pages that follow a run and never hang up.
        tokio::select! {
            () = accept_all(self.listener, self.router, self.head_time) => Ok(()),
            () = stop => Ok(()),
        }
    }
}

/// Answers every connection on a task of its own.
async fn accept_all(listener: TcpListener, router: Router, head_time: Duration) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head_time);
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let service = TowerToHyperService::new(router.clone());
                let connection = http.serve_connection(TokioIo::new(stream), service);
                // What a connection ends with concerns nobody else.
                tokio::spawn(async move { drop(connection.await) });
            }
            // Too many open files, or a client that was gone at once: neither ends the server.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// A random word that nobody can guess.
fn new_token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| std::io::Error::other(e.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// How a browser addresses a server on this machine; it leaves out the usual port.
fn host_names(port: u16) -> Vec<String> {
    let end = if port == 80 { String::new() } else { format!(":{port}") };
    ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}{end}")).to_vec()
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/api/runs", get(api::runs))
        .route("/api/runs/{run}/archive", get(api::archive))
        .route("/api/runs/{run}/metrics", get(api::metrics))
        .route("/api/runs/{run}/live", get(live::follow))
        .route("/api/runs/{run}/replay", post(replay_stream::replay))
        .route("/api/runs/{run}/film", get(download::film))
        .route("/api/runs/{run}/policy", get(download::policy))
        .route("/api/{*rest}", get(api::unknown).post(api::unknown))
        .fallback(page::serve)
        .layer(axum::middleware::from_fn_with_state(shared.clone(), guard::guard))
        .with_state(shared)
}
