-- pipeline
-- materialize ducklake://shop/customers key=customer_id
-- on ducklake://shop/raw.customers
-- retry 2 5s
-- tag staging
-- data_test unique customer_id
-- data_test not_null city
SELECT customer_id, trim(name) AS name, city, tier
FROM shop.raw.customers
