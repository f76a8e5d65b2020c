"""The project in examples/shop from raw tables to its second day, on an Eider of its own.

Started by "make quickstart-materialize" through quickstart-materialize.sh, which fetches DuckDB first.
"""

import os
import subprocess

from quickstart import Session, arguments, catalog

PROJECT = os.path.join("examples", "shop")


class Project:
    """eider materialize on the project; prints every command, and what it says."""

    def __init__(self, binary, dsn, extensions):
        self.binary, self.dsn, self.extensions = binary, dsn, extensions

    def run(self, verb, *args, path=PROJECT, code=0):
        """Runs a command, which has to end with the exit code code."""
        print("   eider materialize " + " ".join([verb, path, *args]), flush=True)
        out = subprocess.run(
            [self.binary, "materialize", verb, path, *args, "--lake", "shop=" + self.dsn, "--extension-dir", self.extensions],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        )
        for line in out.stdout.splitlines():
            print("      " + line)
        if out.returncode != code:
            raise SystemExit(f"eider materialize {verb} ended with {out.returncode}:\n{out.stderr}")
        if code != 0:
            print(f"      exit code {code}")


def raw_tables(s):
    s.run("CREATE SCHEMA raw")
    s.run("""CREATE TABLE raw.products AS SELECT i AS product_id, 'product ' || i AS name,
             ['book', 'game', 'music'][1 + i % 3] AS category, CAST(5 + i % 40 AS DECIMAL(18, 2)) AS price FROM range(200) t(i)""")
    s.run("""CREATE TABLE raw.customers AS SELECT i AS customer_id, 'customer ' || i AS name,
             ['Bergen', 'Oslo', 'Tromsø'][1 + i % 3] AS city, CASE WHEN i % 10 = 0 THEN 'gold' ELSE 'basic' END AS tier FROM range(1000) t(i)""")
    s.run("""CREATE TABLE raw.orders AS SELECT i AS order_id, (i * 7919) % 1000 AS customer_id, (i * 104729) % 200 AS product_id,
             1 + i % 4 AS quantity, TIMESTAMP '2026-06-01 00:00:00' + to_seconds(i * 6) AS ordered_at FROM range(100800) t(i)""")


def pipeline(s, p, graph):
    s.step("Raw tables, as a shop's systems would write them: 100,800 orders of a week.")
    raw_tables(s)

    s.step("Run the project for the first day, in the order of what its scripts read.")
    p.run("run", "--partition", "2026-06-01")

    s.step("The other days of the week: what is missing is filled, the oldest first.")
    p.run("backfill", "--to", "2026-06-07", path=os.path.join(PROJECT, "orders", "orders.sql"))
    p.run("backfill", "--to", "2026-06-07", path=os.path.join(PROJECT, "marts", "daily_revenue.sql"))
    s.show("SELECT day, sum(orders) AS orders, sum(amount) AS amount FROM daily_revenue GROUP BY ALL ORDER BY day")

    s.step("Two orders come late, one is corrected, a customer moves, one leaves. What has not changed is not run.")
    before = s.head()
    s.run("UPDATE raw.customers SET city = 'Oslo' WHERE customer_id = 3")
    s.run("DELETE FROM raw.customers WHERE customer_id = 4")
    s.run("""INSERT INTO raw.orders VALUES (100800, 3, 1, 2, TIMESTAMP '2026-06-07 23:59:55'), (100801, 7, 2, 1, TIMESTAMP '2026-06-07 23:59:58')""")
    s.run("UPDATE raw.orders SET quantity = 100 WHERE order_id = 100799")
    p.run("run", "--partition", "2026-06-07")

    s.step("Again: nothing has changed. The log asks for the time and so is never the same, and of a manual script nothing is known.")
    p.run("run", "--partition", "2026-06-07")

    s.step("An order that cannot be: the data test says so, and what reads the orders is not run. Then it is corrected.")
    s.run("UPDATE raw.orders SET quantity = -1 WHERE order_id = 100801")
    p.run("run", "--partition", "2026-06-07", "--select", "orders/orders+", code=1)
    s.run("UPDATE raw.orders SET quantity = 1 WHERE order_id = 100801")
    p.run("run", "--partition", "2026-06-07", "--select", "orders/orders+")

    s.step("The history knows both versions of the one, and when the other left.")
    s.show("""SELECT customer_id, city, is_current, valid_to IS NULL AS open FROM customer_history
              WHERE customer_id IN (3, 4) ORDER BY customer_id, valid_from""",
           [(3, "Bergen", False, False), (3, "Oslo", True, True), (4, "Oslo", False, False)])

    s.step("Time travel: every run has recorded its snapshot.")
    s.show(f"""SELECT (SELECT sum(amount) FROM daily_revenue AT (VERSION => {before})) AS before,
               (SELECT sum(amount) FROM daily_revenue) AS after""")
    s.show("""SELECT script, partition, status, snapshot_id, row_count FROM postgres_query('__ducklake_metadata_lake',
              'SELECT script, partition, status, snapshot_id, row_count FROM eider_materialize.runs ORDER BY started_at DESC LIMIT 5')""")

    s.step("How everything stands, and what feeds what.")
    p.run("status")
    p.run("graph")
    p.run("graph", "--format", "html", "--out", graph)


def main():
    p = arguments(__doc__)
    p.add_argument("--graph", default="graph.html", help="file for the page with the graph")
    args = p.parse_args()
    with catalog(args) as (_, dsn, data):
        s = Session(args.extensions, dsn, data)
        s.open()
        pipeline(s, Project(args.server, dsn, args.extensions), args.graph)
        s.close()
        print(f"\nThat worked. The graph is a page for a browser: {args.graph}")


if __name__ == "__main__":
    main()
