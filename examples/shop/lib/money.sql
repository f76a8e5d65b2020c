-- macros
CREATE MACRO cents(x) AS CAST(x AS DECIMAL(18, 2));
