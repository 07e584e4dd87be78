-- What a kind fixes about its jobs, as its executor takes it: a command, an image, an address.
ALTER TABLE {schema}.kind ADD COLUMN settings json;
