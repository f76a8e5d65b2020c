#!/bin/sh
# Runs the project in examples/shop on a server of its own: builds nothing, needs bin/eider and bin/eider-worker (make build worker), Python 3 with pip.
# Arguments go to quickstart_materialize.py: --graph FILE writes the graph's page, --help lists the rest.
set -eu
cd "$(dirname "$0")/.."
cache=${EIDER_EXT_DIR:-$PWD/.cache/duckdb}
echo "Getting DuckDB 1.5.5 and its ducklake and postgres extensions (kept in ${cache#"$PWD"/}) ..."
sh scripts/fetch-duckdb.sh "$cache" extensions python-1.5.5
PYTHONPATH=$cache/python-1.5.5:scripts exec "${PYTHON:-python3}" scripts/quickstart_materialize.py --extensions "$cache/extensions" "$@"
