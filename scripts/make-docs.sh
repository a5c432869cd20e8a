#!/bin/sh
# The documentation as a site in target/docs: the same files as in the checkout, searchable, and readable without a network.
# Made with mkdocs-material in an environment of its own; `target/docs/index.html` opens in any browser.
set -eu
cd "$(dirname "$0")/.."
venv=target/docs-venv
if ! "$venv/bin/python" -c 'import material' 2>/dev/null; then
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet 'mkdocs==1.6.1' 'mkdocs-material==9.8.1'
fi
python3 scripts/docs_source.py target/docs-source
NO_MKDOCS_2_WARNING=1 "$venv/bin/python" -m mkdocs build --quiet --strict --config-file target/docs-source/mkdocs.yml --site-dir "$PWD/target/docs"
# Browsers run no workers from files: this small script lets the search work there too.
(cd web && { [ -d node_modules/iframe-worker ] || npm install --no-save --no-audit --no-fund --loglevel=error; })
cp web/node_modules/iframe-worker/shim/index.js target/docs/assets/iframe-worker.js
find target/docs -name '*.html' -exec sed -i 's#https://unpkg.com/iframe-worker/shim#assets/iframe-worker.js#' {} +
echo "target/docs/index.html"
