# `make run` and `make test` are all a new checkout needs; `make native` (part of both) fetches the simulators once.
# One profile (release) serves build, test and bench, so nothing compiles twice.
.PHONY: native web build run test attack python bench results docs lint package dist

TASK ?= swimmer
OUT ?= runs/first-look-$(TASK)

native:
	@scripts/get-mujoco.sh
	@scripts/get-box2d.sh

# The explorer's page, where Node is there; the program works without it, and says what is missing.
web:
	@if command -v npm >/dev/null && node -e 'process.exit(process.versions.node.split(".")[0] < 20 ? 1 : 0)' 2>/dev/null; then \
		$(MAKE) --no-print-directory web/dist/index.html || \
		echo "the explorer's page could not be built; everything else works without it"; \
	else echo "Node 20 with npm is not here: the explorer's page is left out"; fi

# Not `npm ci`, which refuses a lock file without the optional packages of other platforms; versions are locked all the same.
web/dist/index.html: web/package-lock.json web/index.html $(wildcard web/src/*) $(wildcard web/public/*)
	cd web && npm install --no-save --no-audit --no-fund --loglevel=error && npm run --silent build
	@touch $@

build: native web
	cargo build --release --workspace

# A first look: searches TASK for a minute or two, or goes on with the run if it is there.
run: native web
	cargo build --release --bin autoqd
	@program=$${CARGO_TARGET_DIR:-target}/release/autoqd; \
	if [ -f $(OUT)/config.toml ]; then $$program resume $(OUT); \
	else $$program run $(TASK) --preset quick --out $(OUT); fi && \
	$$program report $(OUT) && \
	echo "look around:  $$program explore $(OUT)"

test: native web
	cargo test --release --workspace
	cargo test --release -p autoqd-env --no-default-features --lib registry
	@scripts/test-python.sh

# The attacks of tests/attack at length: about an hour and a half; SECONDS is the time of each of them.
attack: SECONDS ?= 500
attack: native web
	scripts/other-cpus.sh
	@if command -v valgrind >/dev/null; then scripts/valgrind.sh; else echo "valgrind: skipped, it is not installed"; fi
	scripts/sanitize.sh
	AUTOQD_ATTACK_SECONDS=$(SECONDS) cargo test --release -p autoqd-cli --test attack -- --nocapture --test-threads=1

# The wheel, in target/wheels, and installed into the environment .venv of this checkout.
python: native web
	@scripts/make-wheel.sh

# docs/performance.json and docs/performance.md; about half an hour, a third of that with BENCH=--quick.
bench: native
	python3 scripts/bench.py $(BENCH)

# docs/results.md from what is in results/.
results: native
	cargo build --release --bin autoqd
	@$${CARGO_TARGET_DIR:-target}/release/autoqd results page results --out docs/results.md

# The documentation as a site that is searchable and needs no network: target/docs/index.html.
docs:
	@scripts/make-docs.sh

lint: native
	cargo fmt --all --check
	python3 scripts/check_manifests.py
	python3 scripts/check_dependencies.py
	python3 scripts/check_requirements.py
	python3 scripts/bench.py --check
	cargo clippy --release --workspace --all-targets -- -D warnings
	cargo clippy --release -p autoqd-cli --no-default-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps
	@if command -v cargo-deny >/dev/null; then cargo deny check; else echo "cargo-deny is not installed: advisories not checked"; fi

# Every crate as crates.io would get it, in target/package; refuses a tree with uncommitted changes.
package:
	cargo package --workspace --no-verify --locked

# A tarball in dist/ that runs without Rust, tried out before it is there.
dist: native web
	scripts/make-dist.sh
