# `make run` and `make test` are all a new checkout needs; `make native` (part of both) fetches the simulators once.
# One profile (release) serves build, test and bench, so nothing compiles twice.
.PHONY: native build run test bench lint

TASK ?= swimmer
OUT ?= runs/first-look-$(TASK)

native:
	@scripts/get-mujoco.sh
	@scripts/get-box2d.sh

build: native
	cargo build --release --workspace

# A first look: searches TASK for a minute or two, or goes on with the run if it is there.
run: native
	cargo build --release --bin autoqd
	@program=$${CARGO_TARGET_DIR:-target}/release/autoqd; \
	if [ -f $(OUT)/config.toml ]; then $$program resume $(OUT); \
	else $$program run $(TASK) --preset quick --out $(OUT); fi

test: native
	cargo test --release --workspace

bench: native
	cargo bench --workspace

lint: native
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps
	@if command -v cargo-deny >/dev/null; then cargo deny check; else echo "cargo-deny is not installed: licences and bans not checked"; fi
