-- pipeline
-- materialize ducklake://shop/products
-- on ducklake://shop/raw.products
-- retry 2 5s
-- tag staging
-- data_test unique product_id
-- data_test not_null price
-- data_test accepted_values category = book,game,music
SELECT product_id, name, category, price
FROM shop.raw.products
