# `make run` and `make test` are all a new checkout needs; `make native` (part of both) fetches the simulators once.
.PHONY: native build run test bench lint

native:
	@if [ -f scripts/get-mujoco.sh ]; then scripts/get-mujoco.sh; fi
	@if [ -f scripts/get-box2d.sh ]; then scripts/get-box2d.sh; fi

build: native
	cargo build --release --workspace

run: native
	cargo run --release --bin autoqd -- $(ARGS)

test: native
	cargo test --release --workspace

bench: native
	cargo bench --workspace

lint: native
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps
	@if command -v cargo-deny >/dev/null; then cargo deny check; else echo "cargo-deny is not installed: licences and bans not checked"; fi
