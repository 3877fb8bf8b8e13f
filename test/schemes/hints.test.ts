// What is said of each mistake with each scheme, frozen in a file that is reviewed by its diff. UPDATE_HINTS=1 npm test -- schemes/hints
// writes it; with UPDATE_HINTS=new, only what it does not have yet.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import type { SchemeSubject } from '../support/scheme-contract.ts';
import { subjects as aws4 } from '../support/schemes/subjects/aws4.ts';
import { subjects as declared } from '../support/schemes/subjects/declared.ts';
import { subjects as defined } from '../support/schemes/subjects/defined.ts';
import { subjects as draftCavage } from '../support/schemes/subjects/draft-cavage.ts';
import { subjects as further } from '../support/schemes/subjects/further.ts';
import { subjects as hmac } from '../support/schemes/subjects/hmac.ts';
import { subjects as language } from '../support/schemes/subjects/language.ts';
import { subjects as messageSignatures } from '../support/schemes/subjects/message-signatures.ts';
import { subjects as oauth1 } from '../support/schemes/subjects/oauth1.ts';
import { subjects as passwords } from '../support/schemes/subjects/passwords.ts';
import { subjects as providers } from '../support/schemes/subjects/providers.ts';
import { subjects as webhooks } from '../support/schemes/subjects/webhooks.ts';
import { seeded } from '../support/seeded.ts';
import { long } from '../support/store/thoroughness.ts';
import { type Hints, listHints, listHintsOf, mistakesWith } from './hints.ts';
import { wrongRequests } from './wrong-requests.ts';

const subjects: Readonly<Record<string, SchemeSubject>> = {
  ...hmac,
  ...aws4,
  ...messageSignatures,
  ...draftCavage,
  ...oauth1,
  ...declared,
  ...defined,
  ...language,
  ...webhooks,
  ...providers,
  ...passwords,
  ...further,
};

/** The schemes whose explanations to clients are compared with the journal's. To all is too slow. */
const inResponse = [
  'hmac, full form',
  'AWS Signature Version 4',
  'HTTP Message Signatures with a secret',
  'OAuth 1.0a, HMAC-SHA1',
  'a declared scheme with a nonce',
];

const nameOf = (group: string): string => `requests: ${group}`;
const names = [...Object.keys(subjects), ...Object.keys(wrongRequests).map(nameOf)];

const path = join(import.meta.dirname, 'hints.json');
const frozen: Readonly<Record<string, Hints>> = JSON.parse(readFileSync(path, 'utf8'));
const update = process.env['UPDATE_HINTS'];
const found: Record<string, Hints> = {};

/** The scheme with which every mistake is tried in the short form, too, unless its explanation is general: it takes least time. */
const whole = 'hmac, full form';

/** How many mistakes are tried once in the short form: one of this many. */
const share = 40;

/**
 * Returns the mistakes that are not tried this time, because all take minutes: of those whose explanation is general, which take
 * longest, all but one for an eighth of the schemes, and of the others 39 of 40. The seed decides.
 */
function skip(name: string, subject: SchemeSubject, hints: Hints): ReadonlySet<string> {
  if (update === 'new') return new Set(Object.keys(hints));
  if (update !== undefined || long) return new Set();
  const random = seeded();
  const general = Object.keys(hints).filter((name) => hints[name]?.endsWith(': general'));
  const tried = general.length === 0 || random.below(8) > 0 ? undefined : random.pick(general);
  const others = mistakesWith(subject).flatMap(([mistake]) => (general.includes(mistake) ? [] : [mistake]));
  const left = name === whole ? [] : others.filter(() => random.below(share) > 0);
  return new Set([...general.filter((each) => each !== tried), ...left]);
}

for (const [name, subject] of Object.entries(subjects))
  test(`what is said of mistakes is what hints.json has: ${name}`, async () => {
    const hints = frozen[name] ?? {};
    found[name] = await listHints(subject, inResponse.includes(name), hints, skip(name, subject, hints));
    if (update === undefined) assert.deepEqual(found[name], hints);
  });

for (const [group, wrong] of Object.entries(wrongRequests))
  test(`what is said of requests is what hints.json has: ${group}`, async () => {
    const name = nameOf(group);
    found[name] = await listHintsOf(wrong);
    if (update === undefined) assert.deepEqual(found[name], frozen[name]);
  });

test('hints.json has these schemes and no other', () => {
  if (update === undefined) assert.deepEqual(Object.keys(frozen), names);
});

after(() => {
  const all = names.map((name) => [name, found[name] ?? frozen[name]]);
  if (update !== undefined) writeFileSync(path, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
});
