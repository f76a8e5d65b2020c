# Reads one JSON string with a statement per line and answers with one JSON object per line: the rows as text, or the error.
import json, os, sys
import duckdb

db = duckdb.connect(":memory:", config={"allow_unsigned_extensions": "true", "threads": "2"})
for name in ("postgres_scanner", "ducklake"):
    db.execute("LOAD '%s'" % os.path.join(sys.argv[1], name + ".duckdb_extension"))
db.execute("SET TimeZone = 'UTC'")
db.execute("SET enable_progress_bar = false")  # it would go between the answers

for line in sys.stdin:
    sql = json.loads(line)
    try:
        res = db.execute(sql)
        rows = []
        if res.description:
            rows = [[None if v is None else str(v) for v in row] for row in res.fetchall()]
        answer = {"rows": rows}
    except Exception as e:  # every error of the engine is an answer
        answer = {"error": str(e)}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
