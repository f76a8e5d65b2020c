"""Writes trees.json: DuckDB's parse tree of each SELECT in the files *.txt beside it.

Needs the Python package duckdb, version 1.5.5.
"""

import json
import pathlib

import duckdb

VERSION = "1.5.5"


def selects(path):
    """The inputs of the directives read and view."""
    lines = path.read_text().split("\n")
    while lines:
        line = lines.pop(0)
        if line.split(" ")[0] not in ("read", "view"):
            continue
        text = []
        while lines[0] != "----":
            text.append(lines.pop(0))
        yield "\n".join(text)


def main():
    assert duckdb.__version__ == VERSION, duckdb.__version__
    here = pathlib.Path(__file__).parent
    db = duckdb.connect()
    trees = {}
    for path in sorted(here.glob("*.txt")):
        for sql in selects(path):
            tree = db.execute("SELECT json_serialize_sql($sql::VARCHAR)", {"sql": sql}).fetchone()[0]
            trees[sql] = tree
    out = [json.dumps(sql) + ":\n" + trees[sql] for sql in sorted(trees)]
    (here / "trees.json").write_text("{\n" + ",\n".join(out) + "\n}\n")


main()
