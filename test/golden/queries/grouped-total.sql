SELECT count(*) AS n, count(DISTINCT customer) AS customers, sum(amount) FILTER (WHERE qty > 2) AS large, bool_or(qty > 4) AS any_five FROM orders;
