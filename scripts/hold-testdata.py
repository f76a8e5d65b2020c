#!/usr/bin/env python3
"""Makes the test data of conflict/hold: compactions by DuckLake, with their files and the rows of the catalog before and after.

  scripts/fetch-duckdb.sh .cache/duckdb extensions python-1.5.5
  PYTHONPATH=.cache/duckdb/python-1.5.5 python3 scripts/hold-testdata.py .cache/duckdb/extensions conflict/hold/testdata

With the word bench behind, it makes two big merges instead, of ten million rows each: of a table with eight columns in DIR/bench, of one with
three in DIR/bench-narrow. It says how much CPU the client took for each, and the benchmark how much the hold takes:

  … scripts/hold-testdata.py .cache/duckdb/extensions DIR bench
  EIDER_HOLD_SCENARIO=DIR/bench go test ./conflict/hold -run xxx -bench Tier2
  EIDER_HOLD_SCENARIO=DIR/bench-narrow go test ./conflict/hold -run xxx -bench Tier2

Each scenario is a folder: its files by the number of the catalog's row, and scenario.json. File names, keys and times differ from run to run.
"""
import json, os, shutil, sys, tempfile, time

import duckdb

extensions, out = sys.argv[1:3]

DATA = "data_file_id, table_id, begin_snapshot, end_snapshot, path, record_count, file_size_bytes, footer_size, row_id_start, partition_id, encryption_key, mapping_id, partial_max"
DELETE = "delete_file_id, table_id, begin_snapshot, end_snapshot, data_file_id, path, format, delete_count, file_size_bytes, footer_size, encryption_key, partial_max"


class Lake:
    def __init__(self, options=""):
        self.dir = tempfile.mkdtemp()
        self.db = duckdb.connect(":memory:", config={"allow_unsigned_extensions": "true", "threads": "1"})
        self.db.execute(f"LOAD '{extensions}/ducklake.duckdb_extension'")
        self.db.execute("SET TimeZone = 'UTC'")
        self.db.execute("SET force_mbedtls_unsafe = 'true'")  # there is no OpenSSL here, and the keys are in the catalog's rows beside the files
        self.db.execute(f"ATTACH 'ducklake:{self.dir}/meta.db' AS lake (DATA_PATH '{self.dir}/data/' {options})")

    def run(self, *statements):
        for s in statements:
            self.db.execute(s)

    def meta(self, table, columns="*", where=""):
        cur = self.db.execute(f"SELECT {columns} FROM __ducklake_metadata_lake.{table} {where}")
        names = [d[0] for d in cur.description]
        return [dict(zip(names, row)) for row in cur.fetchall()]

    def state(self):
        inlined = []
        for t in self.meta("ducklake_table", "DISTINCT table_id"):
            try:
                rows = self.meta(f"ducklake_inlined_delete_{t['table_id']}", "file_id, row_id, begin_snapshot")
            except duckdb.CatalogException:  # it is made when it is first needed
                continue
            inlined += [dict(r, table_id=t["table_id"]) for r in rows]
        return {
            "data": self.meta("ducklake_data_file", DATA, "ORDER BY ALL"),
            "deletes": self.meta("ducklake_delete_file", DELETE, "ORDER BY ALL"),
            "inlined": inlined,
            "values": self.meta("ducklake_file_partition_value", "data_file_id, table_id, partition_key_index, partition_value", "ORDER BY ALL"),
            "sorted": bool(self.meta("ducklake_sort_info", "*", "WHERE end_snapshot IS NULL")),
            "stats": self.meta("ducklake_table_stats", "table_id, record_count, next_row_id"),
            "changes": self.meta("ducklake_snapshot_changes", "snapshot_id, changes_made", "ORDER BY 1"),
            "snapshots": self.meta("ducklake_snapshot", "snapshot_id, next_file_id", "ORDER BY 1"),
        }

    def keep(self, folder, state, rows, kind):
        for r in state[rows]:
            name = f"{kind}{r[kind + '_file_id']}{os.path.splitext(r['path'])[1]}"
            for at in (f"{self.dir}/data/main/t/{r['path']}", r["path"]):
                if os.path.exists(at):
                    shutil.copyfile(at, os.path.join(folder, name))
            r["path"] = name


def scenario(name, setup, compaction, options="", null=False):
    folder = os.path.join(out, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    lake = Lake(options)
    lake.run(*setup)
    if null:
        # What the server does when it is told to: no start for files with ids inside.
        for (path, id) in lake.db.execute("SELECT path, data_file_id FROM __ducklake_metadata_lake.ducklake_data_file WHERE row_id_start IS NOT NULL").fetchall():
            if lake.db.execute(f"SELECT count(*) FROM parquet_schema('{lake.dir}/data/main/t/{path}') WHERE field_id = 2147483540").fetchone()[0]:
                lake.db.execute(f"UPDATE __ducklake_metadata_lake.ducklake_data_file SET row_id_start = NULL WHERE data_file_id = {id}")
    before = lake.state()
    ids_before = lake.db.execute("SELECT rowid, i FROM lake.t ORDER BY ALL").fetchall()
    lake.keep(folder, before, "data", "data")
    lake.keep(folder, before, "deletes", "delete")
    began = time.process_time()
    lake.run(compaction)
    took = time.process_time() - began
    after = lake.state()
    ids_after = lake.db.execute("SELECT rowid, i FROM lake.t ORDER BY ALL").fetchall()
    lake.keep(folder, after, "data", "data")
    lake.keep(folder, after, "deletes", "delete")
    for f in before["deletes"] + after["deletes"]:
        f.setdefault("format", "parquet")
    with open(os.path.join(folder, "scenario.json"), "w") as f:
        json.dump({"right": ids_before == ids_after, "rows": ids_before if len(ids_before) < 1000 else [], "before": before, "after": after}, f, indent=1)
    kept = {r["path"] for r in before["data"] + after["data"] + before["deletes"] + after["deletes"]} | {"scenario.json"}
    for f in os.listdir(folder):
        if f not in kept:
            os.remove(os.path.join(folder, f))
    lake.db.close()
    shutil.rmtree(lake.dir)
    return took


MERGE = "CALL ducklake_merge_adjacent_files('lake')"
REWRITE = "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)"
FLUSH = "CALL ducklake_flush_inlined_data('lake')"
FILES = "CALL lake.set_option('data_inlining_row_limit', 0)"
INLINE = "CALL lake.set_option('data_inlining_row_limit', 10)"
TABLE = ["CREATE TABLE lake.t (i INTEGER, v INTEGER)", FILES]
TWO = ["INSERT INTO lake.t SELECT range, 0 FROM range(10)", "INSERT INTO lake.t SELECT range, 0 FROM range(10, 20)"]
UPDATES = ["INSERT INTO lake.t SELECT range, 0 FROM range(20)", "UPDATE lake.t SET v = 1 WHERE i < 10", "UPDATE lake.t SET v = 2 WHERE i >= 10"]
SORTED = ["CREATE TABLE lake.t (i INTEGER, v INTEGER)", "ALTER TABLE lake.t SET SORTED BY (v)", "INSERT INTO lake.t VALUES (0, 9), (1, 8), (2, 7)", FLUSH,
          "INSERT INTO lake.t VALUES (3, 6), (4, 5), (5, 4)", FLUSH]
GAPS = ["CREATE TABLE lake.t (p INTEGER, i INTEGER)", "ALTER TABLE lake.t SET PARTITIONED BY (p)", "INSERT INTO lake.t VALUES (0, 0), (0, 1), (1, 2)", FILES,
        "INSERT INTO lake.t VALUES (0, 3), (0, 4)", INLINE, "INSERT INTO lake.t VALUES (0, 5)", FLUSH]
DELETES = TABLE + TWO + ["UPDATE lake.t SET v = 1 WHERE i < 5", "DELETE FROM lake.t WHERE i IN (6, 12, 13)", INLINE, "DELETE FROM lake.t WHERE i IN (1, 15)"]

if sys.argv[3:] == ["bench"]:
    # Ten files, half of them with ids inside.
    def big(columns, values):
        insert = [f"INSERT INTO lake.t SELECT {values} FROM range({n} * 1000000, {n + 1} * 1000000)" for n in range(10)]
        update = [f"UPDATE lake.t SET v = 0 WHERE i BETWEEN {n} * 1000000 AND {n + 1} * 1000000 - 1" for n in range(0, 10, 2)]
        return [f"CREATE TABLE lake.t ({columns})", FILES, "CALL lake.set_option('target_file_size', '4GB')"] + insert + update

    wide = big("i BIGINT, v DOUBLE, s VARCHAR, d DATE, ts TIMESTAMP, n INTEGER, c VARCHAR, price DECIMAL(18, 2)",
               "range, random(), 'row number ' || range, DATE '2024-01-01' + (range % 700)::INTEGER, TIMESTAMP '2024-01-01' + to_seconds(range), "
               "hash(range) % 100000, 'category ' || (range % 50), range % 99999 / 7")
    narrow = big("i BIGINT, v DOUBLE, s VARCHAR", "range, random(), 'row number ' || range")
    for name, setup in ("bench", wide), ("bench-narrow", narrow):
        print(f"{name}: the merge took the client {scenario(name, setup, MERGE, null=True):.2f} s of CPU", flush=True)
    sys.exit()

scenario("inserts", TABLE + TWO, MERGE)
scenario("updates", TABLE + UPDATES, MERGE)
scenario("updates_null", TABLE + UPDATES, MERGE, null=True)
scenario("insert_gap_insert", TABLE + [TWO[0], "CREATE TABLE lake.u (i INTEGER)", "INSERT INTO lake.t SELECT range, 1 FROM range(50, 60)", "DELETE FROM lake.t WHERE i >= 50", TWO[1]], MERGE)
scenario("merge_into", TABLE + [TWO[0], "MERGE INTO lake.t USING (SELECT range i FROM range(5, 15)) s ON s.i = t.i WHEN MATCHED THEN UPDATE SET v = 7 WHEN NOT MATCHED THEN INSERT VALUES (s.i, 8)", TWO[1]], MERGE)
scenario("delete_and_insert", TABLE + [TWO[0], "BEGIN", "DELETE FROM lake.t WHERE i < 3", "INSERT INTO lake.t SELECT range, 5 FROM range(3)", "COMMIT", TWO[1]], MERGE)
scenario("sorted_inserts", TABLE + [s.replace(", 0 FROM", ", 100 - range FROM") for s in TWO] + ["ALTER TABLE lake.t SET SORTED BY (v)"], MERGE)
scenario("sorted_flushes", SORTED, MERGE)
scenario("sorted_flushes_null", SORTED, MERGE, null=True)
scenario("flush_gaps", GAPS, MERGE)
scenario("flush_gaps_null", GAPS, MERGE, null=True)
scenario("rewrite", DELETES, REWRITE)
scenario("rewrite_flushed", DELETES + [FLUSH], REWRITE)
scenario("rewrite_to_nothing", TABLE + [TWO[0], TWO[1], "DELETE FROM lake.t WHERE i < 9", INLINE, "DELETE FROM lake.t WHERE i = 9"], REWRITE)
scenario("rewrite_vectors", ["CREATE TABLE lake.t (i INTEGER, v INTEGER)", "CALL lake.set_option('write_deletion_vectors', true)"] + DELETES[1:], REWRITE)
scenario("partitions", ["CREATE TABLE lake.t (p INTEGER, i INTEGER)", FILES, "ALTER TABLE lake.t SET PARTITIONED BY (p)"]
         + [f"INSERT INTO lake.t SELECT range % 2, range FROM range({n}, {n + 6})" for n in (0, 6, 12)], MERGE)
scenario("encrypted", TABLE + UPDATES + ["DELETE FROM lake.t WHERE i IN (3, 4)"], REWRITE, options=", ENCRYPTED")
scenario("encrypted_merge", TABLE + UPDATES, MERGE, options=", ENCRYPTED", null=False)
scenario("two_versions", ["CREATE TABLE lake.t (i INTEGER, v INTEGER)", INLINE, "INSERT INTO lake.t VALUES (1, 1), (2, 2)", "UPDATE lake.t SET v = 9 WHERE i = 1", FLUSH,
          "INSERT INTO lake.t VALUES (3, 3), (4, 4)", "UPDATE lake.t SET v = 9 WHERE i = 3", FLUSH], REWRITE)
