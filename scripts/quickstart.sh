#!/bin/sh
# Runs a lake session on a server of its own: builds nothing, needs bin/eider (make build), Python 3 with pip.
# Arguments go to quickstart.py: --keep leaves the server running, --help lists the rest.
set -eu
cd "$(dirname "$0")/.."
cache=${EIDER_EXT_DIR:-$PWD/.cache/duckdb}
echo "Getting DuckDB 1.5.5 and its ducklake and postgres extensions (kept in ${cache#"$PWD"/}) ..."
sh scripts/fetch-duckdb.sh "$cache" extensions python-1.5.5
PYTHONPATH=$cache/python-1.5.5 exec "${PYTHON:-python3}" scripts/quickstart.py --extensions "$cache/extensions" "$@"
