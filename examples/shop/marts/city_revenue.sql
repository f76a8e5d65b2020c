-- Revenue by the city where a customer lives now.
-- pipeline
-- materialize ducklake://shop/city_revenue
-- on ducklake://shop/orders
-- on ducklake://shop/customer_history_current
-- trigger any
-- debounce 10s
-- tag mart
-- data_test unique city
SELECT c.city, count(*) AS orders, sum(o.amount) AS amount
FROM shop.orders o JOIN shop.customer_history_current c USING (customer_id)
GROUP BY ALL
