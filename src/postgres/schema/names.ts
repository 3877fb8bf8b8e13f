/** The maximum length of an identifier in bytes (PostgreSQL, "Identifiers and Key Words"). A longer one is truncated. */
const maxLength = 63;

/** The name of a schema, as SQL. */
export interface SchemaName {
  readonly name: string;
  /** The quoted identifier. */
  readonly identifier: string;
}

/** Validates and quotes the name of a schema. Throws RangeError. */
export function schemaName(name: string): SchemaName {
  const fault = findFault(name);
  if (fault !== undefined) throw new RangeError(`the name of the schema ${fault}`);
  return { name, identifier: quoteIdentifier(name) };
}

function findFault(name: string): string | undefined {
  if (typeof name !== 'string' || name === '') return 'must not be empty';
  if (name.includes('\0') || !isWellFormed(name)) return 'contains a character that PostgreSQL cannot store';
  if (Buffer.byteLength(name) > maxLength) return `is longer than ${maxLength} bytes`;
  if (name.startsWith('pg_')) return 'begins with "pg_", which PostgreSQL reserves';
  return undefined;
}

function isWellFormed(text: string): boolean {
  return Buffer.from(text).toString() === text;
}

/** Quotes an identifier. */
function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes a text as a dollar-quoted literal, with a tag that does not occur in it. No setting changes its meaning. */
export function dollarQuote(text: string): string {
  let tag = '$cs$';
  for (let number = 1; text.includes(tag) || `${text}$`.includes(tag); number += 1) tag = `$cs${number}$`;
  return `${tag}${text}${tag}`;
}
