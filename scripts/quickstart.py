"""A lake session from the first table to the last cleanup, on an Eider of its own.

Started by "make quickstart" through quickstart.sh, which fetches DuckDB first.
"""

import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import duckdb


def arguments(description):
    """The arguments that every quickstart has."""
    p = argparse.ArgumentParser(description=description)
    p.add_argument("--extensions", required=True, help="folder with ducklake and postgres_scanner .duckdb_extension files")
    p.add_argument("--server", default=os.path.join("bin", "eider"), help="the eider binary; eider-worker lies beside it, where that is needed")
    p.add_argument("--connect", help="use this running server (a libpq connection string with dbname) and start none")
    return p


@contextlib.contextmanager
def catalog(args):
    """A server, None with --connect, its connection string, and a folder for data files; at the end all of it goes."""
    # A terminated run must clean up like a finished one.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = tempfile.mkdtemp(prefix="eider-quickstart-")
    data = os.path.join(folder, "files") + "/"
    os.mkdir(data)
    server = None
    try:
        if args.connect:
            yield None, args.connect, data
            return
        server = Eider(args.server, folder)
        server.start()
        yield server, server.dsn(), data
    finally:
        if server:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Eider:
    """The server under the session, on an embedded store in a folder of its own."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.port, self.admin = free_port(), free_port()
        self.process = None

    def start(self):
        log = open(os.path.join(self.folder, "eider.log"), "a", encoding="utf-8")
        self.process = subprocess.Popen(
            [
                self.binary, "serve",
                "--listen", f"127.0.0.1:{self.port}",
                "--admin-listen", f"127.0.0.1:{self.admin}",
                "--data", os.path.join(self.folder, "data"),
            ],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )
        log.close()
        deadline = time.monotonic() + 60
        while True:
            if self.process.poll() is not None:
                raise SystemExit("eider ended by itself:\n" + self.log())
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/readyz", timeout=5) as r:
                    if r.status == 200:
                        return
            except OSError:
                pass
            if time.monotonic() > deadline:
                raise SystemExit("eider was not ready within a minute:\n" + self.log())
            time.sleep(0.05)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode if self.process else 0

    def log(self):
        with open(os.path.join(self.folder, "eider.log"), encoding="utf-8") as f:
            return f.read()[-4000:]

    def dsn(self):
        return f"host=127.0.0.1 port={self.port} dbname=lake user=eider"


class Session:
    """DuckDB with the lake attached; prints every statement and what came of it."""

    def __init__(self, extensions, dsn, data):
        self.extensions, self.dsn, self.data = extensions, dsn, data
        self.db = None
        self.number = 0

    def open(self):
        self.db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        for name in ("postgres_scanner", "ducklake"):
            self.db.execute(f"LOAD '{os.path.join(self.extensions, name + '.duckdb_extension')}'")
        self.run(f"ATTACH 'ducklake:postgres:{self.dsn}' AS lake (DATA_PATH '{self.data}')")
        self.run("USE lake")

    def close(self):
        self.db.close()

    def step(self, text):
        self.number += 1
        print(f"\n{self.number}. {text}")

    def run(self, sql):
        print("   " + " ".join(sql.split()))
        return self.db.execute(sql)

    def show(self, sql, expect=None):
        """Prints the rows; with expect, what they must be."""
        cursor = self.run(sql)
        names = [d[0] for d in cursor.description]
        rows = cursor.fetchall()
        cells = [names] + [["NULL" if v is None else str(v) for v in r] for r in rows[:12]]
        widths = [max(len(r[i]) for r in cells) for i in range(len(names))]
        for r in cells:
            print("      " + "  ".join(v.ljust(w) for v, w in zip(r, widths)).rstrip())
        if len(rows) > 12:
            print(f"      ... {len(rows) - 12} more")
        if expect is not None and rows != expect:
            raise SystemExit(f"quickstart: expected {expect}")
        return rows

    def value(self, sql):
        return self.db.execute(sql).fetchone()[0]

    def head(self):
        return self.value("SELECT max(snapshot_id) FROM lake.snapshots()")


def parquet_files(folder):
    return sum(f.endswith(".parquet") for _, _, files in os.walk(folder) for f in files)


def lake_session(s, restart):
    s.step("Attach: the catalog is in Eider, the data files are in a folder.")
    s.open()

    s.step("A table. Small inserts go into the catalog itself: no file is written.")
    s.run("CREATE TABLE birds (id INTEGER, name VARCHAR, weight DOUBLE)")
    s.run("INSERT INTO birds VALUES (1, 'common eider', 2.1), (2, 'king eider', 1.7), (3, 'puffin', 0.4)")
    s.show("SELECT * FROM birds ORDER BY id", [(1, "common eider", 2.1), (2, "king eider", 1.7), (3, "puffin", 0.4)])
    print(f"      Parquet files: {parquet_files(s.data)}")

    s.step("A larger insert becomes a Parquet file.")
    s.run("INSERT INTO birds SELECT 100 + i, 'bird ' || i, i / 1000 FROM range(20000) t(i)")
    s.show("SELECT count(*) AS birds FROM birds", [(20003,)])
    print(f"      Parquet files: {parquet_files(s.data)}")
    before = s.head()

    s.step("Update and delete, in a transaction.")
    s.run("BEGIN")
    s.run("UPDATE birds SET weight = 2.2 WHERE id = 1")
    s.run("DELETE FROM birds WHERE id >= 10100")
    s.run("COMMIT")
    s.show("SELECT count(*) AS birds, max(weight) FILTER (id = 1) AS eider FROM birds", [(10003, 2.2)])

    s.step("Time travel: the table as it was before.")
    s.show(f"SELECT count(*) AS birds, max(weight) FILTER (id = 1) AS eider FROM birds AT (VERSION => {before})", [(20003, 2.1)])

    s.step("Change the table; old files stay as they are.")
    s.run("ALTER TABLE birds ADD COLUMN family VARCHAR")
    s.run("ALTER TABLE birds RENAME COLUMN weight TO kilograms")
    s.run("UPDATE birds SET family = 'Anatidae' WHERE id < 3")
    s.show("SELECT * FROM birds WHERE id < 4 ORDER BY id",
           [(1, "common eider", 2.2, "Anatidae"), (2, "king eider", 1.7, "Anatidae"), (3, "puffin", 0.4, None)])

    s.step("What changed since then?")
    s.show(f"""SELECT change_type, count(*) AS n FROM lake.table_changes('birds', {before + 1}, {s.head()})
               GROUP BY ALL ORDER BY ALL""")

    s.step("Many small files become one.")
    for i in range(3):
        s.run(f"INSERT INTO birds SELECT {50000 + 100 * i} + i, 'late bird', NULL, NULL FROM range(50) t(i)")
    s.show("CALL ducklake_merge_adjacent_files('lake')")
    s.show("SELECT count(*) AS birds FROM birds", [(10153,)])

    s.step("Write what is in the catalog to files, forget old snapshots, remove files nobody needs.")
    s.show("CALL ducklake_flush_inlined_data('lake')")
    kept = parquet_files(s.data)
    s.run("CALL ducklake_expire_snapshots('lake', older_than => now())")
    s.run("CALL ducklake_cleanup_old_files('lake', cleanup_all => true)")
    print(f"      Parquet files: {kept} before, {parquet_files(s.data)} after")
    s.show("SELECT snapshot_id, changes FROM lake.snapshots()")
    s.show("SELECT count(*) AS birds, count(family) AS with_family FROM birds", [(10153, 2)])

    if restart:
        s.step("Stop the server, start it again: the lake is still there.")
        s.close()
        restart()
        s.open()
        s.show("SELECT count(*) AS birds, count(family) AS with_family FROM birds", [(10153, 2)])
    s.close()


def main():
    p = arguments(__doc__)
    p.add_argument("--keep", action="store_true", help="leave the server running until Ctrl-C, as on a terminal")
    args = p.parse_args()
    with catalog(args) as (server, dsn, data):
        restart = None
        if server:
            print(f"Eider serves PostgreSQL clients on 127.0.0.1:{server.port}, its store is in {server.folder}/data")

            def restart():
                code = server.stop()
                if code != 0:
                    raise SystemExit(f"eider ended with {code}:\n{server.log()}")
                server.start()

        lake_session(Session(args.extensions, dsn, data), restart)
        print("\nThat worked. In any DuckDB 1.5 (INSTALL ducklake; INSTALL postgres;) this attaches the lake:")
        print(f"   ATTACH 'ducklake:postgres:{dsn}' AS lake;")
        if server and (args.keep or sys.stdout.isatty()):
            print("The server runs until Ctrl-C; then its folder is removed.", flush=True)
            try:
                server.process.wait()
            except KeyboardInterrupt:
                print()
        elif server:
            print("   (the server has gone with this run; sh scripts/quickstart.sh --keep leaves it running)")


if __name__ == "__main__":
    main()
