// Fields and parameters that clients confuse with those of a scheme. Only refusals are explained with them.

import { findClosestMatch } from '../../did-you-mean.ts';
import { splitPairs } from '../../http/form.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { findQuery } from '../../http/target.ts';

/** Fields of one purpose, as their owners write them, with what a field is if another one is expected. */
type Group = readonly (readonly [name: string, what?: string])[];

const groups: readonly Group[] = [
  [['X-Hub-Signature-256'], ['X-Hub-Signature', 'the SHA-1 signature of older webhooks']],
  [
    ['webhook-signature'],
    ['svix-signature', 'the name of Svix for the same signature'],
    ['X-Webhook-Signature'],
  ],
  [['webhook-id'], ['svix-id', 'the name of Svix for the same id'], ['X-Webhook-Id']],
  [
    ['webhook-timestamp'],
    ['svix-timestamp', 'the name of Svix for the same timestamp'],
    ['X-Webhook-Timestamp'],
  ],
  [['X-HubSpot-Signature-v3'], ['X-HubSpot-Signature', 'the signature of version 1 or 2']],
  [['x-square-hmacsha256-signature'], ['x-square-signature', 'the SHA-1 signature of older webhooks']],
  [
    ['X-Twilio-Signature', 'the signature of requests of Twilio, not of events of SendGrid'],
    [
      'X-Twilio-Email-Event-Webhook-Signature',
      'the signature of events of SendGrid, not of requests of Twilio',
    ],
  ],
  [
    ['CB-ACCESS-SIGN'],
    ['CB-ACCESS-SIGNATURE'],
    ['X-CB-ACCESS-SIGNATURE', 'the name of Coinbase Prime'],
    ['ACCESS-SIGN'],
  ],
  [['CB-ACCESS-KEY'], ['X-CB-ACCESS-KEY', 'the name of Coinbase Prime'], ['ACCESS-KEY']],
  [['X-API-Key'], ['API-Key'], ['ApiKey'], ['X-Auth-Token'], ['X-Access-Token']],
  [['Signature'], ['X-Signature'], ['X-Sign'], ['Sign']],
];

const byName = new Map(
  groups.flatMap((group) => group.map(([name]) => [name.toLowerCase(), group] as const)),
);

/** Returns the fields that clients confuse with a field, in lower case. */
export function listRelatedFields(name: string): readonly string[] {
  const lower = name.toLowerCase();
  const group = byName.get(lower) ?? [];
  return group.map(([each]) => each.toLowerCase()).filter((each) => each !== lower);
}

/** Where the schemes that a resource accepts have their credentials, in lower case except for parameters. */
export interface ExpectedNames {
  readonly fields: readonly string[];
  readonly parameters: readonly string[];
  /** Names in Authorization. */
  readonly authorization: readonly string[];
}

/** The number of names of a request that are examined: a client may send thousands. */
const maxNames = 64;

/** Returns what is misnamed in a request without credentials: a field, a parameter, or a scheme. Undefined if nothing is. */
export function describeMisnamed(request: IncomingRequest, expected: ExpectedNames): string | undefined {
  return (
    describeVersion2(request, expected) ??
    describeFields(request.headers.raw, expected.fields) ??
    describeParameters(request, expected.parameters)
  );
}

/** Returns the parameter with a signature or a key that was sent where a field is expected, or the reverse. Undefined if there is none. */
export function describeOtherPlace(request: IncomingRequest, expected: ExpectedNames): string | undefined {
  const parameters = parameterNames(request);
  const fields = listFieldNames(request.headers.raw);
  for (const purpose of proofs) {
    const isMeant = (name: string): boolean => purpose.test(name.toLowerCase());
    const [parameter, field] = [parameters.find(isMeant), fields.find(isMeant)];
    const [expectedField, expectedParameter] = [
      expected.fields.find(isMeant),
      expected.parameters.find(isMeant),
    ];
    if (parameter !== undefined && expectedField !== undefined)
      return `the query parameter ${parameter} was sent; the field ${displayName(expectedField)} is expected`;
    if (field !== undefined && expectedParameter !== undefined)
      return `the field ${field} was sent; the query parameter ${expectedParameter} is expected`;
  }
  return undefined;
}

function listFieldNames(raw: readonly string[]): readonly string[] {
  return raw.filter((_, at) => at % 2 === 0).slice(0, maxNames);
}

/**
 * Returns the field that was sent in place of another one. Undefined if there is none.
 *
 * @param raw The names and values of the fields that were sent, in turns
 * @param expected The names that are expected, in lower case
 */
export function describeFields(raw: readonly string[], expected: readonly string[]): string | undefined {
  const sent = listFieldNames(raw);
  const names = new Set(sent.map((each) => each.toLowerCase()));
  for (const name of expected) {
    if (names.has(name)) continue;
    const others = sent.filter((each) => !expected.includes(each.toLowerCase()));
    const found =
      others.find((each) => isRelated(each.toLowerCase(), name)) ??
      findClosest(
        name,
        others.filter((each) => !isForOther(each, name)),
      ) ??
      findPurpose(name, others);
    if (found === undefined) continue;
    const what = findGroup(name)?.find(([each]) => each.toLowerCase() === found.toLowerCase())?.[1];
    return `the field ${found} was sent${what === undefined ? '' : `, ${what}`}; ${displayName(name)} is expected`;
  }
  return undefined;
}

function findGroup(name: string): Group | undefined {
  return byName.get(name.toLowerCase());
}

function isRelated(sent: string, expected: string): boolean {
  return listRelatedFields(expected).includes(sent) || normalizeName(sent) === normalizeName(expected);
}

/** Returns a name without what often differs: "X-" at its beginning, hyphens and underscores. */
function normalizeName(name: string): string {
  return name.replace(/^x-/, '').replace(/[-_]/g, '');
}

/** Returns the name that is most similar. Short names are similar by chance. */
function findClosest(name: string, sent: readonly string[]): string | undefined {
  const long = sent.filter((each) => each.length >= 8 && Math.abs(each.length - name.length) <= 3);
  return name.length < 8 ? undefined : findClosestMatch(name, long);
}

/** Words of the names of fields, by what the fields are for. */
const purposes: readonly RegExp[] = [
  /(?:^|[-_])(?:sign|signature|sig|hmac|hash)(?:[-_]|$|\d)/,
  /(?:^|[-_])(?:(?:api|access|app|client|consumer|public)[-_]?(?:key|id|token)|apikey|key|keyid)$/,
  /(?:^|[-_])(?:timestamp|time|ts)$/,
  /(?:^|[-_])nonce$/,
  /(?:^|[-_])(?:passphrase|password)$/,
];

/** The purposes of what shows who sent a request: a signature and a key. */
const proofs = purposes.slice(0, 2);

/** Returns the words of the purpose that a name shows; undefined if it shows none. */
function purposeOf(name: string): RegExp | undefined {
  return purposes.find((words) => words.test(name.toLowerCase()));
}

/** Returns whether two names show that they are for different purposes, however similar they are: X-Api-Time and X-Api-Sign. */
function isForOther(sent: string, name: string): boolean {
  const [one, other] = [purposeOf(sent), purposeOf(name)];
  return one !== undefined && other !== undefined && one !== other;
}

/** Returns the only field that is for the same purpose, by the words of its name. */
function findPurpose(name: string, sent: readonly string[]): string | undefined {
  const purpose = purposeOf(name);
  const same = purpose === undefined ? [] : sent.filter((each) => purpose.test(each.toLowerCase()));
  return same.length === 1 ? same[0] : undefined;
}

/** Returns a field name as its owner writes it, or else with the first letter of each word in upper case. */
export function displayName(name: string): string {
  const known = findGroup(name)?.find(([each]) => each.toLowerCase() === name)?.[0];
  return known ?? name.replace(/(?<![^-])[a-z]/g, (letter) => letter.toUpperCase());
}

function parameterNames(request: IncomingRequest): string[] {
  return splitPairs(findQuery(request.target))
    .slice(0, maxNames)
    .map(([name]) => name);
}

/** Returns the query parameter that was sent in place of another one. Undefined if there is none. */
export function describeParameters(
  request: IncomingRequest,
  expected: readonly string[],
): string | undefined {
  const sent = parameterNames(request);
  for (const name of expected) {
    const found =
      sent.find((each) => normalizeName(each.toLowerCase()) === normalizeName(name.toLowerCase())) ??
      findClosest(name, sent) ??
      findPurpose(name.toLowerCase(), sent);
    if (found !== undefined && found !== name && !sent.includes(name))
      return `the query parameter ${found} was sent; ${name} is expected`;
  }
  return undefined;
}

const version2 =
  'these are credentials of AWS Signature Version 2; Version 4 is expected (AWS4-HMAC-SHA256, X-Amz-Signature)';

/** Recognizes AWS Signature Version 2: `Authorization: AWS KEY:SIGNATURE`, or `AWSAccessKeyId` in the query. */
function describeVersion2(request: IncomingRequest, { authorization }: ExpectedNames): string | undefined {
  if (!authorization.includes('aws4-hmac-sha256')) return undefined;
  const isInField = /^AWS [^\s:]+:\S+$/i.test(request.headers.get('authorization') ?? '');
  return isInField || parameterNames(request).includes('AWSAccessKeyId') ? version2 : undefined;
}
