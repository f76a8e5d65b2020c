-- Every version of a customer, with the time from which and until which it was right.
-- pipeline
-- materialize ducklake://shop/customer_history key=customer_id history track=city,tier deletes=close
-- on ducklake://shop/raw.customers debounce=5s
-- retry 2 5s
-- tag history
-- data_test unique customer_id
-- data_test not_null customer_id
SELECT customer_id, trim(name) AS name, city, tier
FROM shop.raw.customers
