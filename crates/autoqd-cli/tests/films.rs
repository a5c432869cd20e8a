//! `autoqd render` with and without the program ffmpeg, end to end with the real program.

use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_autoqd");

fn small_run(run: &Path) {
    let mut command = Command::new(PROGRAM);
    command.args(["run", "point-maze", "--preset=quick", "--threads=1", "--out"]).arg(run);
    for setting in ["iterations=2", "batch_size=4", "episodes=1", "update_schedule=[2]", "policy.hidden=[8]"]
    {
        command.args(["--set", setting]);
    }
    assert!(command.output().unwrap().status.success());
}

fn render(run: &Path, format: &str, path: &Path) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(["render", "--count=1", "--seconds=0.2", "--size=64x48", "--format", format]).arg(run);
    command.env("PATH", path).output().unwrap()
}

#[test]
fn without_ffmpeg_a_film_is_a_gif_and_an_mp4_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    small_run(&run);
    let nothing = folder.path().join("nothing");
    std::fs::create_dir(&nothing).unwrap();

    let film = render(&run, "film", &nothing);
    assert!(film.status.success(), "{}", String::from_utf8_lossy(&film.stderr));
    let file = String::from_utf8(film.stdout).unwrap();
    assert!(file.trim().ends_with(".gif"), "{file}");
    assert!(std::fs::read(file.trim()).unwrap().starts_with(b"GIF89a"));

    let refused = render(&run, "mp4", &nothing);
    assert!(!refused.status.success());
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(error.contains("ffmpeg") && error.contains("--format film"), "{error}");
}

#[cfg(unix)]
#[test]
fn an_ffmpeg_that_cannot_write_h264_counts_as_none() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    small_run(&run);
    let poor = folder.path().join("poor");
    std::fs::create_dir(&poor).unwrap();
    // What ffmpeg says of an encoder that it was built without.
    let words = "#!/bin/sh\necho \"Codec 'libx264' is not recognized by FFmpeg.\" >&2\n";
    std::fs::write(poor.join("ffmpeg"), words).unwrap();
    std::fs::set_permissions(poor.join("ffmpeg"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let film = render(&run, "film", &poor);
    assert!(String::from_utf8(film.stdout).unwrap().trim().ends_with(".gif"));
}

#[test]
fn with_ffmpeg_a_film_is_an_mp4() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).find(|folder| folder.join("ffmpeg").is_file());
    let Some(found) = found else {
        assert!(std::env::var("AUTOQD_REQUIRE_ALL").as_deref() != Ok("1"), "ffmpeg is not installed");
        eprintln!("skipped: ffmpeg is not installed");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    small_run(&run);
    let film = render(&run, "film", &found);
    assert!(film.status.success(), "{}", String::from_utf8_lossy(&film.stderr));
    let file = String::from_utf8(film.stdout).unwrap();
    assert!(file.trim().ends_with(".mp4"), "{file}");
    assert_eq!(&std::fs::read(file.trim()).unwrap()[4..8], b"ftyp");
}
