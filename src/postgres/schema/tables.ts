import { dollarQuote } from './names.ts';

/**
 * Returns the statements that create the tables of schema version 1.
 *
 * - `collections`: the counters of each collection. All changes of a collection hold the lock of its row until they are
 *   committed, so its sequences and revisions become visible in order.
 * - `items`: `value` is JSON. It is text, because `json` and `jsonb` cannot hold U+0000.
 * - `chosen`: ranges of ids above the counter that clients chose. `collections.reserved` is the first of them.
 * - `revisions`: a sequence never returns a number twice. A crash of the server can only skip some.
 * - `batches`: the results of recent batches, for repetitions.
 * - `nonces`, `receipts`: keys are SHA-256 digests. `claim` identifies the query that has claimed a nonce.
 */
export function formatTables(schema: string): string {
  return `
CREATE SEQUENCE ${schema}.revisions;
CREATE TABLE ${schema}.collections (
  number integer GENERATED ALWAYS AS IDENTITY UNIQUE,
  path text COLLATE "C" PRIMARY KEY,
  counter bigint NOT NULL DEFAULT 0,
  sequence bigint NOT NULL DEFAULT 0,
  revision bigint NOT NULL DEFAULT 0,
  modified bigint NOT NULL DEFAULT 0,
  reserved bigint
) WITH (fillfactor = 50);
CREATE TABLE ${schema}.items (
  collection integer NOT NULL,
  sequence bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  modified bigint NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (collection, sequence),
  UNIQUE (collection, id)
) WITH (fillfactor = 90);
CREATE TABLE ${schema}.chosen (
  collection integer NOT NULL,
  first bigint NOT NULL,
  last bigint NOT NULL,
  PRIMARY KEY (collection, first)
);
CREATE TABLE ${schema}.batches (
  id text PRIMARY KEY,
  made timestamptz NOT NULL,
  result text NOT NULL
);
CREATE INDEX ON ${schema}.batches (made);
CREATE TABLE ${schema}.nonces (
  digest bytea PRIMARY KEY,
  until bigint NOT NULL,
  claim bigint NOT NULL
);
CREATE INDEX ON ${schema}.nonces (until);
CREATE TABLE ${schema}.receipts (
  key bytea PRIMARY KEY,
  name text NOT NULL,
  owner text COLLATE "C",
  until bigint NOT NULL,
  fingerprint text NOT NULL,
  kind smallint NOT NULL,
  created boolean NOT NULL,
  collection text NOT NULL,
  id text NOT NULL,
  sequence bigint NOT NULL,
  revision bigint NOT NULL,
  modified bigint NOT NULL,
  value text NOT NULL
);
CREATE INDEX ON ${schema}.receipts (until);
CREATE INDEX ON ${schema}.receipts (owner, until) WHERE owner IS NOT NULL;
CREATE TABLE ${schema}.documents (
  name text COLLATE "C" PRIMARY KEY,
  version text NOT NULL,
  content bytea NOT NULL
);
CREATE TABLE ${schema}.meta (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  version integer NOT NULL,
  store_id text NOT NULL,
  mark bigint NOT NULL DEFAULT 0
);
`;
}

/** Returns the head of a function. */
export function functionHead(schema: string, signature: string, volatility = 'VOLATILE'): string {
  return `CREATE OR REPLACE FUNCTION ${schema}.${signature} LANGUAGE plpgsql ${volatility} AS `;
}

/** Returns an expression for the pair of keys of an advisory lock that belongs to the schema. */
export function lockKeys(schema: string, number: number): string {
  return `(${dollarQuote(`${schema}.meta`)}::regclass)::oid::integer, ${number}`;
}
