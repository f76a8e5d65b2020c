-- pipeline
-- materialize ducklake://shop/daily_revenue
-- partitioned daily start=2026-06-01
-- on ducklake://shop/orders/{partition}
-- tag mart
-- column amount <- ducklake://shop/orders.amount
-- measure revenue = sum(amount)
-- dimension category = category
-- data_test not_null category
SELECT CAST({partition} AS DATE) AS day, p.category, count(*) AS orders, sum(o.amount) AS amount
FROM shop.orders o JOIN shop.products p USING (product_id)
WHERE o._wm_partition = {partition}
GROUP BY ALL
