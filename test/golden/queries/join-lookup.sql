SELECT c.id, c.page, p.name, p.city FROM clicks c LEFT JOIN people p ON p.id = c.customer WHERE p.city IS DISTINCT FROM 'Oslo';
