-- What each run found. Rows are added and never changed.
-- pipeline
-- materialize ducklake://shop/order_log append
-- on ducklake://shop/orders
SELECT now() AS counted_at, count(*) AS orders, sum(amount) AS amount
FROM shop.orders
