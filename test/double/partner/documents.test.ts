// Documents that others wrote: every operation answers with content that Ajv accepts by the schema of the document.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { type Operation, type PartnerDocument, parseDocument } from '../../../src/double/partner/document.ts';
import { root } from '../../support/documents/markdown.ts';
import { ajvFor, readPackageFile, requestFor, type Validate } from '../../support/double/partner-requests.ts';
import { missingPackage } from '../../support/packages.ts';
import { long } from '../../support/store/thoroughness.ts';

/** Files with a mistake, or with a scheme that nothing verifies, and the place. */
const faulty: Readonly<Record<string, RegExp>> = {
  '3.0/json/parameters-common.json': /~1anything~1\{id\}~1\{action\}~1\{id\}: has the parameter id twice/,
  '3.0/json/response-examples.json': /content\/text~1csv, text~1comma-separated-values: is not a media type/,
  '3.0/json/response-http-behavior.json':
    /#\/paths\/~1cache\/get\/security: there is no security scheme "api_key"/,
  '3.0/json/security-multiple.json':
    /requires apiKey_header and basic and oauth2 together, and a request has one field Authorization/,
  '3.1/json/security.json': /#\/components\/securitySchemes\/mutualTLS: has the type "mutualTLS"/,
};

/** Operations that have no valid request or response: their schemas permit no finite value. */
const impossible: readonly string[] = [
  'directCircular',
  'quirks_entirelyIncompatibleAllOf',
  'quirks_partiallyUsableIncompatibleAllOf',
];

const examples = '@readme/oas-examples';
const files = missingPackage('ajv') === false ? filesIn(examples) : [];
const skip = files.length === 0 && `${examples} is missing: npm ci --prefix test`;

function filesIn(name: string): readonly string[] {
  try {
    return ['3.0/json', '3.1/json'].flatMap((folder) =>
      readdirSync(join(root, 'test/node_modules', name, folder))
        .filter((file) => file.endsWith('.json'))
        .map((file) => `${folder}/${file}`),
    );
  } catch {
    return [];
  }
}

const options = {
  users: { ann: { secret: 'secret of ann', password: 'pw of ann' } },
  clients: { app: { secret: 'secret of app', grants: ['client_credentials'] } },
  now: '2026-03-01T12:00:00Z',
  randomSeed: 'documents',
  limits: { target: 65_536 },
} as const;

/** Returns the scheme with which an operation is requested; undefined if it needs none. */
function schemeFor({ security }: Operation, { securitySchemes }: PartnerDocument): string | undefined {
  const [name, ...others] = security[0]?.keys() ?? [];
  if (name === undefined) return undefined;
  const { type, scheme } = securitySchemes.get(name)?.value ?? {};
  if (type === 'apiKey') return [name, ...others].join('.');
  return type === 'http' && scheme === 'basic' ? 'basic' : 'bearer';
}

/** Sends a request to every operation, or to one of `step` operations. Returns what is wrong with the responses, and how many had content that was checked. */
async function requestAll(source: Record<string, unknown>, validate: Validate, step = 1) {
  const document = parseDocument(source);
  const errors: unknown[] = [];
  await using double = await startDouble({
    ...options,
    partner: source,
    onError: (error) => void errors.push(error),
  });
  const faults: string[] = [];
  let checked = 0;
  for (const operation of document.operations.filter((_, index) => index % step === 0)) {
    const isDerived = operation.method === 'HEAD' || operation.method === 'OPTIONS';
    if (isDerived || impossible.includes(operation.id) || operation.responses.length === 0) continue;
    const { path, body, ...init } = requestFor(operation, document);
    const scheme = schemeFor(operation, document);
    const client = scheme === undefined ? double : double.as('ann', { scheme });
    const response = await client.fetch(path, { ...init, ...(body !== undefined && { body }) });
    const fault = await faultOf(operation, response, validate);
    if (fault !== undefined) faults.push(`${operation.id}: ${fault}`);
    else checked += 1;
  }
  return { faults, errors, checked };
}

async function faultOf(
  operation: Operation,
  response: Response,
  validate: Validate,
): Promise<string | undefined> {
  const { status } = response;
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const keys = [String(status), `${String(status).charAt(0)}XX`, 'default'];
  const documented = keys.flatMap((key) => operation.responses.filter((each) => each.status === key))[0];
  const isProblem = status >= 400 && text.includes('"type":"/problems/');
  const isInformational = operation.responses.every((each) => each.status.startsWith('1'));
  if (isProblem || (documented === undefined && !isInformational)) return `${status} ${text}`;
  const media = documented?.content.find(({ essence }) => type.startsWith(essence));
  if (media?.schema === undefined || !/json$/.test(media.essence)) return undefined;
  const fault = validate(media.schema.at, JSON.parse(text));
  return fault === undefined ? undefined : `${fault} in ${text}`;
}

describe(examples, { skip }, () => {
  for (const file of files)
    test(file, async () => {
      const source = readPackageFile(examples, file);
      const message = faulty[file];
      if (message === undefined) {
        const { faults, errors } = await requestAll(source, ajvFor(source));
        return assert.deepEqual({ faults, errors }, { faults: [], errors: [] });
      }
      await using double = await startDouble({ ...options, partner: source });
      assert.match(double.partner.faults.join('\n'), message);
      await assert.rejects(startDouble({ ...options, partner: { document: source, strict: true } }), message);
    });
});

test('@scalar/galaxy: operations respond as documented', { skip }, async () => {
  const source = readPackageFile('@scalar/galaxy', 'dist/3.1.json');
  const { faults, errors } = await requestAll(source, ajvFor(source));
  assert.deepEqual({ faults, errors }, { faults: [], errors: [] });
});

test('@octokit/openapi: operations respond as documented', { skip }, async () => {
  const source = readPackageFile('@octokit/openapi', 'generated/api.github.com.json');
  const { faults, errors, checked } = await requestAll(source, ajvFor(source), long ? 1 : 20);
  assert.deepEqual({ faults, errors }, { faults: [], errors: [] });
  assert.ok(checked > (long ? 1000 : 50), `${checked} operations`);
});
