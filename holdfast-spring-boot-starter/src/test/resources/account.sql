CREATE TABLE account (email text PRIMARY KEY);
