//! Damaged requests to the explorer: each is answered or turned down, and the next sound one is answered.

use crate::corruption::damage;
use crate::exchange::{PATIENCE, exchange, requests};
use crate::program::{autoqd, undisturbed};
use crate::{Random, attack};
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::Child;
use std::time::Duration;

/// A sound request is answered in this time, however busy the machine is.
const LONG: Duration = Duration::from_secs(30);

/// The explorer on a run; `None` where the program has no page.
struct Explorer {
    child: Child,
    address: SocketAddr,
}

impl Explorer {
    fn start() -> Option<Self> {
        let mut command = autoqd();
        let mut child = command.arg("explore").arg(undisturbed()).arg("--port=0").spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("http://").and_then(|rest| rest.split('/').next()?.parse().ok());
        let Some(address) = address else {
            let _ = child.wait();
            assert!(
                std::env::var("AUTOQD_REQUIRE_ALL").as_deref() != Ok("1"),
                "the explorer's page is not built"
            );
            return None;
        };
        Some(Self { child, address })
    }

    /// What it said on standard error.
    fn stop(mut self) -> String {
        let _ = self.child.kill();
        let mut said = String::new();
        let _ = self.child.stderr.take().unwrap().read_to_string(&mut said);
        let _ = self.child.wait();
        said
    }
}

#[test]
fn damaged_requests_never_stop_the_explorer() {
    let Some(explorer) = Explorer::start() else { return eprintln!("skipped: no page") };
    let address = explorer.address;
    let table =
        autoqd::run_folder::ArchiveTable::read_parquet(&undisturbed().join("archive.parquet")).unwrap();
    let sound = requests(address, "run", table.id[0]);
    assert_eq!(exchange(address, &sound[2], LONG), Ok(Some(200)), "the run is called after its folder");
    attack("http", 120, |number| {
        let mut random = Random::new(number);
        let mut bytes = random.pick(&sound).clone();
        for _ in 0..random.below(4) {
            damage(&mut bytes, &mut random);
        }
        exchange(address, &bytes, PATIENCE)
            .map_err(|reason| format!("{reason}, to {:?}", String::from_utf8_lossy(&bytes)))?;
        match exchange(address, &sound[1], LONG)? {
            Some(200) => Ok(()),
            other => Err(format!("afterwards a sound request gets {other:?}")),
        }
    });
    let said = explorer.stop();
    assert!(!said.contains("panicked"), "{said}");
}
