-- A script that writes its table itself: the run is recorded, and nothing more.
-- pipeline
-- materialize manual ducklake://shop/best_customers
-- on ducklake://shop/orders
-- tag mart
ATTACH 'ducklake://shop' AS lake;
BEGIN;
CREATE OR REPLACE TABLE lake.best_customers AS
  SELECT customer_id, sum(amount) AS amount FROM lake.orders GROUP BY ALL ORDER BY amount DESC LIMIT 10;
COMMIT;
