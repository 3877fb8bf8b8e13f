import { dollarQuote } from './names.ts';
import { functionHead, lockKeys } from './tables.ts';

/**
 * Returns the statement that creates `replace_document`, which replaces a document if it has the expected version (null:
 * if there is none), and notifies the channel of the schema. Returns whether the document has the new version, so a
 * repeated call returns the same. The lock makes concurrent creations of a document wait for each other.
 */
export function formatDocumentFunctions(schema: string, channel: string): string {
  return `${functionHead(
    schema,
    'replace_document(wanted text, content_base64 text, expected text, next text, wait integer) RETURNS boolean',
  )}${dollarQuote(`
BEGIN
  PERFORM set_config('lock_timeout', wait::text, true);
  PERFORM ${schema}.ensure_durable();
  PERFORM pg_advisory_xact_lock(${lockKeys(schema, 3)});
  IF EXISTS (SELECT 1 FROM ${schema}.documents WHERE name = wanted AND version = next) THEN RETURN true; END IF;
  IF expected IS NULL THEN
    INSERT INTO ${schema}.documents (name, version, content) VALUES (wanted, next, decode(content_base64, 'base64'))
      ON CONFLICT DO NOTHING;
  ELSE
    UPDATE ${schema}.documents SET version = next, content = decode(content_base64, 'base64')
      WHERE name = wanted AND version = expected;
  END IF;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM pg_notify(${dollarQuote(channel)}, '');
  RETURN true;
END
`)}`;
}
