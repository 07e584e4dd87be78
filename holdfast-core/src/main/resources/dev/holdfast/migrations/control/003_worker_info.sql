-- What a worker last said about itself: load, memory, version. Shown, and never decided by.
ALTER TABLE {schema}.worker ADD COLUMN info json;
