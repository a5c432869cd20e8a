#![no_main]

#[path = "../../tests/attack/exchange.rs"]
#[allow(dead_code)]
mod exchange;

use autoqd::config::Layers;
use autoqd::registry::Registry;
use autoqd::runner::{Limits, Runner};
use autoqd_view::RunView;
use autoqd_view::server::{Server, ServerConfig};
use std::net::SocketAddr;
use std::sync::OnceLock;

/// The explorer in this process, on a run of two iterations.
fn explorer() -> SocketAddr {
    static EXPLORER: OnceLock<SocketAddr> = OnceLock::new();
    *EXPLORER.get_or_init(|| {
        // A panic in a request would only close its connection.
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            report(panic);
            std::process::abort();
        }));
        let folder = tempfile::tempdir().unwrap().keep();
        let path = folder.join("run");
        search(&path);
        let run = RunView::open(&path, &Registry::default()).unwrap();
        let runtime = Box::leak(Box::new(tokio::runtime::Runtime::new().unwrap()));
        let server = runtime.block_on(Server::bind(vec![run], ServerConfig::default())).unwrap();
        let address = server.address();
        runtime.spawn(server.serve(std::future::pending()));
        address
    })
}

struct Quiet;

impl autoqd::observer::Observer for Quiet {
    fn on_iteration(
        &mut self,
        _: &autoqd::observer::IterationReport,
    ) -> Result<(), autoqd::observer::ObserverError> {
        Ok(())
    }
}

fn search(path: &std::path::Path) {
    let registry = Registry::default();
    let mut layers = Layers::new(&registry);
    for set in
        ["task=point-maze", "iterations=2", "batch_size=3", "emitters=2", "episodes=1", "policy.hidden=[3]"]
    {
        layers = layers.set(set).unwrap();
    }
    let task = registry.task("point-maze", &Default::default()).unwrap();
    let config = layers.build().unwrap().resolve(&task.spec().into(), &registry).unwrap();
    let mut runner = Runner::create(path, config, &registry).unwrap();
    runner.run(Limits::default(), &|| false, &mut Quiet).unwrap();
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    exchange::exchange(explorer(), bytes, exchange::PATIENCE).unwrap();
});
