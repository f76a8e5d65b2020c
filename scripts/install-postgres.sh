#!/bin/sh
# Installs the PostgreSQL server that the tests compare Eider with, of the major version that the argument names. Needs root on a system with apt;
# does nothing where it is there already. Where the system has no such version, it installs the system's own: what that is, the tests look at.
set -eu
version=${1:?the major version}
if [ -e "/usr/lib/postgresql/$version/bin/initdb" ]; then
	exit 0
fi
[ "$(id -u)" = 0 ] || { echo "install-postgres.sh: PostgreSQL $version is missing and this user may not install it" >&2; exit 1; }
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
# The distribution's own cluster is not wanted: the tests start theirs.
mkdir -p /etc/postgresql-common
[ -e /etc/postgresql-common/createcluster.conf ] || echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
apt-get install -y -q "postgresql-$version" || apt-get install -y -q postgresql
