-- The orders of a day. An order that comes again replaces what it was.
-- pipeline
-- materialize ducklake://shop/orders key=order_id on_schema_change=sync
-- partitioned daily start=2026-06-01
-- on schedule cron="30 2 * * *"
-- freshness 26h
-- use lib/money
-- column amount <- ducklake://shop/raw.orders.quantity, ducklake://shop/products.price
-- data_test unique order_id
-- data_test relationships product_id -> ducklake://shop/products.product_id
-- data_test tests/no_negative_amount
SELECT o.order_id, o.customer_id, o.product_id, o.quantity, o.ordered_at, cents(o.quantity * p.price) AS amount
FROM shop.raw.orders o JOIN shop.products p USING (product_id)
WHERE wm_partition(o.ordered_at) = {partition}
