//! One request to the explorer, in bytes, and what came back.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long to wait for a server that may be waiting for the rest of a damaged request.
pub const PATIENCE: Duration = Duration::from_millis(300);
const QUIET: [ErrorKind; 3] = [ErrorKind::ConnectionReset, ErrorKind::WouldBlock, ErrorKind::TimedOut];

/// A sound request for every route.
pub fn requests(address: SocketAddr, run: &str, id: u64) -> Vec<Vec<u8>> {
    let request = |method: &str, path: &str, more: &str| {
        format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{more}").into_bytes()
    };
    let get = |path: &str| request("GET", path, "\r\n");
    let body = format!("{{\"id\": {id}, \"mass_scale\": 1.5}}");
    let head = format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    vec![
        get("/"),
        get("/api/runs"),
        get(&format!("/api/runs/{run}/archive")),
        get(&format!("/api/runs/{run}/metrics")),
        get(&format!("/api/runs/{run}/policy?id={id}")),
        get(&format!("/api/runs/{run}/film?id={id}&seconds=0.1")),
        get("/../../etc/passwd"),
        request("POST", &format!("/api/runs/{run}/replay"), &head),
    ]
}

/// Sends bytes and says the status of the answer: none if there is none in time.
///
/// # Errors
/// When the server cannot be reached or answers with what no server should.
pub fn exchange(address: SocketAddr, bytes: &[u8], patience: Duration) -> Result<Option<u16>, String> {
    let mut stream = TcpStream::connect(address).map_err(|e| format!("cannot connect: {e}"))?;
    stream.set_read_timeout(Some(patience)).map_err(|e| e.to_string())?;
    // A server may turn a request down before it has read all of it.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(e) if !QUIET.contains(&e.kind()) => return Err(format!("no end of the answer: {e}")),
        _ => {}
    }
    if answer.is_empty() {
        return Ok(None);
    }
    let status = answer.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    match status {
        // The server is asked too much at once, but never fails.
        Some(status @ (200..=499 | 503)) => Ok(Some(status)),
        other => {
            Err(format!("answered {other:?}: {}", String::from_utf8_lossy(&answer[..answer.len().min(200)])))
        }
    }
}
