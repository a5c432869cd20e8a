//! `autoqd explore`: the archive as a map in the browser, with every elite at work on a click; and `autoqd view`: a task
//! before any search.

use autoqd::registry::Registry;
use std::io::Write;
use std::net::IpAddr;
use std::process::ExitCode;

use anyhow::{Context, bail};
use autoqd_view::RunView;
use autoqd_view::server::{Server, ServerConfig, page_is_built};

use crate::run_args::RunsArg;

/// Arguments of `autoqd explore`.
#[derive(clap::Args)]
pub struct ExploreArgs {
    #[command(flatten)]
    runs: RunsArg,
    #[command(flatten)]
    listen: ListenArgs,
}

/// Where the page is served.
#[derive(clap::Args)]
struct ListenArgs {
    /// Port; 0 takes any that is free
    #[arg(long, default_value_t = 7878)]
    port: u16,
    /// Address to listen on. One that other machines can reach needs the token that is printed with the address
    #[arg(long, default_value = "127.0.0.1")]
    host: IpAddr,
}

/// Arguments of `autoqd view`.
#[derive(clap::Args)]
pub struct ViewArgs {
    /// Name, Gymnasium id, or path of a task file
    task: String,
    #[command(flatten)]
    listen: ListenArgs,
}

/// Serves the page of runs until it is interrupted.
pub fn run(args: &ExploreArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    need_page()?;
    serve(RunView::open_all(&args.runs.with_policies(), registry)?, &args.listen, out)
}

/// Serves the page of a task before any search.
pub fn view(args: &ViewArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    need_page()?;
    serve(vec![RunView::of_task(&args.task, registry)?], &args.listen, out)
}

fn need_page() -> anyhow::Result<()> {
    if !page_is_built() {
        bail!(
            "this program was built without the explorer's page: install Node 20 or newer, then run `make web` and \
             build again; `autoqd report` and `autoqd render` work without it"
        );
    }
    Ok(())
}

fn serve(runs: Vec<RunView>, listen: &ListenArgs, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let config = ServerConfig { address: listen.host, port: listen.port, ..ServerConfig::default() };
    let runtime = tokio::runtime::Runtime::new().context("cannot start the server's threads")?;
    runtime.block_on(async {
        let server = Server::bind(runs, config).await?;
        writeln!(out, "{}  (stop with Ctrl-C)", server.url())?;
        out.flush()?;
        server.serve(std::future::pending()).await?;
        Ok(ExitCode::SUCCESS)
    })
}
