SELECT DISTINCT ON (customer) customer, id, amount FROM orders ORDER BY customer, amount DESC NULLS LAST, id;
