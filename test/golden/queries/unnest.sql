SELECT c.id, u.part, u.place FROM clicks c, unnest(string_to_array(c.page, '/')) WITH ORDINALITY AS u (part, place) WHERE u.part <> '';
