import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseIdempotencyKey } from '../../../src/collections/idempotency-key.ts';
import { Problem } from '../../../src/http/problem.ts';
import { seeded } from '../../support/seeded.ts';

/**
 * The key in a field value, by a regular expression made from the grammar of RFC 9651 §3.3.3 and, for parameters, §3.1.2; undefined
 * if it is malformed.
 */
function expectedKey(field: string): string | undefined {
  const bare = /"(?:[ !#-[\]-~]|\\["\\])*"|\?[01]|-?[0-9]{1,12}/.source;
  const form = new RegExp(
    `^ *"((?:[ !#-[\\]-~]|\\\\["\\\\])*)"(?:; *[a-z*][a-z0-9_.*-]*(?:=(?:${bare}))?)* *$`,
  );
  const text = form.exec(field)?.[1]?.replace(/\\(.)/g, '$1');
  return text === undefined || text === '' || text.length > 255 ? undefined : text;
}

function parsedKey(field: string): string | undefined {
  try {
    return parseIdempotencyKey(field);
  } catch (error) {
    assert.ok(error instanceof Problem && error.type === 'malformed-idempotency-key', String(error));
    return undefined;
  }
}

test('a field is accepted if and only if it is a string of 1 to 255 characters', () => {
  const random = seeded();
  const pieces = [
    ...['"', '"', '\\', 'a', 'Z', ' ', ';', 'a=1', ';b', ';c="x"', '?1', ',', '\t', '\u00e9', '~', '!'],
    '9',
  ];
  let accepted = 0;
  for (let round = 0; round < 20_000; round += 1) {
    const content =
      random.text('abc \\"~!0', 6) + (random.below(20) === 0 ? 'x'.repeat(250 + random.below(8)) : '');
    const quoted = `"${content.replace(/["\\]/g, random.below(4) > 0 ? '\\$&' : '$&')}"`;
    const extra = Array.from({ length: random.below(4) }, () => random.pick(pieces)).join('');
    const field = random.pick([quoted, quoted + extra, extra + quoted, extra]);
    const expected = expectedKey(field);
    assert.equal(parsedKey(field), expected, `SEED=${random.seed}: ${JSON.stringify(field)}`);
    if (expected !== undefined) accepted += 1;
  }
  assert.ok(accepted > 2000);
});
