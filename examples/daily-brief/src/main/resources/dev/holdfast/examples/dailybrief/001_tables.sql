-- What the three jobs read and write. Whatever must be so once, a constraint sees to: each job may
-- run again, or be killed anywhere.

CREATE TABLE {schema}.rss_sources (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  rss_url       text NOT NULL UNIQUE,
  etag          text, -- both as the server said them, to be said back to it
  last_modified text
);

CREATE TABLE {schema}.raw_articles (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  rss_source_id bigint NOT NULL REFERENCES {schema}.rss_sources,
  url           text NOT NULL UNIQUE,
  title         text NOT NULL,
  summary       text NOT NULL,
  content_hash  text NOT NULL, -- SHA-256 of title and summary
  published_at  timestamptz,
  fetched_at    timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX raw_articles_fetched_at ON {schema}.raw_articles (fetched_at);

-- An event that several articles tell of. A closed one takes no more of them.
CREATE TABLE {schema}.clusters (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  title           text NOT NULL,
  article_count   integer NOT NULL DEFAULT 0 CHECK (article_count >= 0),
  is_closed       boolean NOT NULL DEFAULT false,
  last_article_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE {schema}.cluster_articles (
  cluster_id     bigint NOT NULL REFERENCES {schema}.clusters,
  raw_article_id bigint NOT NULL REFERENCES {schema}.raw_articles,
  UNIQUE (cluster_id, raw_article_id)
);

CREATE INDEX cluster_articles_raw_article ON {schema}.cluster_articles (raw_article_id);

-- What the articles that people read were made from. Never changed, and what it names stays.
CREATE TABLE {schema}.generated_article_sources (
  generated_article_id bigint NOT NULL,
  raw_article_id       bigint NOT NULL REFERENCES {schema}.raw_articles ON DELETE RESTRICT,
  PRIMARY KEY (generated_article_id, raw_article_id)
);

CREATE INDEX generated_article_sources_raw_article
  ON {schema}.generated_article_sources (raw_article_id);

CREATE FUNCTION {schema}.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is immutable', TG_TABLE_NAME;
END
$$;

CREATE TRIGGER generated_article_sources_are_immutable
  BEFORE UPDATE OR DELETE OR TRUNCATE ON {schema}.generated_article_sources
  FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse_change();
