#!/bin/sh
# Installs the PostgreSQL server that the tests compare Eider with. Needs root on a system with apt; does nothing where initdb is there already.
set -eu
if ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1; then
	exit 0
fi
[ "$(id -u)" = 0 ] || { echo "install-postgres.sh: PostgreSQL is missing and this user may not install it" >&2; exit 1; }
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
# The distribution's own cluster is not wanted: the tests start theirs.
mkdir -p /etc/postgresql-common
[ -e /etc/postgresql-common/createcluster.conf ] || echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
apt-get install -y -q postgresql
