// Documents that others wrote: every operation answers with content that Ajv accepts by the schema of the document.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { type Operation, type PartnerDocument, parseDocument } from '../../../src/double/partner/document.ts';
import { once } from '../../../src/once.ts';
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
  'complete-incoming-payment',
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

/** How operations are requested. */
interface Manner {
  /** Requests one of this many operations. Default: 1. */
  readonly step?: number;
  /** Whether values are drawn. */
  readonly dynamic?: boolean;
  /** Whether each documented status is asked for too, after that of success. */
  readonly isEachStatus?: boolean;
}

/** Sends requests to operations. Returns what is wrong with the responses, and how many are right. */
async function requestAll(
  source: Record<string, unknown>,
  document: PartnerDocument,
  validate: Validate,
  manner: Manner = {},
) {
  const { step = 1, dynamic = false, isEachStatus = false } = manner;
  const errors: unknown[] = [];
  await using double = await startDouble({
    ...options,
    partner: { document: source, dynamic },
    onError: (error) => void errors.push(error),
  });
  const faults: string[] = [];
  let checked = 0;
  for (const operation of document.operations.filter((_, index) => index % step === 0)) {
    const isDerived = operation.method === 'HEAD' || operation.method === 'OPTIONS';
    if (isDerived || impossible.includes(operation.id) || operation.responses.length === 0) continue;
    const { path, body, headers, ...init } = requestFor(operation, document);
    const scheme = schemeFor(operation, document);
    const client = scheme === undefined ? double : double.as('ann', { scheme });
    for (const status of [undefined, ...(isEachStatus ? listStatuses(operation) : [])]) {
      const asked = { ...headers, ...(status !== undefined && { Prefer: `code=${status}` }) };
      const response = await client.fetch(path, {
        ...init,
        headers: asked,
        ...(body !== undefined && { body }),
      });
      const isAsked = status === undefined || status === String(response.status);
      const fault = isAsked ? await faultOf(operation, response, validate) : `${response.status} was sent`;
      if (fault !== undefined) faults.push(`${operation.id} ${status ?? ''}: ${fault}`);
      else checked += 1;
    }
  }
  return { faults, errors, checked };
}

/** Returns the final statuses that an operation documents, without classes and `default`. */
function listStatuses({ responses }: Operation): readonly string[] {
  return [...new Set(responses.map(({ status }) => status))].filter((status) => /^[2-5]\d\d$/.test(status));
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
        const { faults, errors } = await requestAll(source, parseDocument(source), ajvFor(source));
        return assert.deepEqual({ faults, errors }, { faults: [], errors: [] });
      }
      await using double = await startDouble({ ...options, partner: source });
      assert.match(double.partner.faults.join('\n'), message);
      await assert.rejects(startDouble({ ...options, partner: { document: source, strict: true } }), message);
    });
});

/** Reads a document of a package, in JSON or YAML. */
function readDocument(name: string, file: string): Record<string, unknown> {
  if (file.endsWith('.json')) return readPackageFile(name, file);
  const text = readFileSync(join(root, 'test/node_modules', name, file), 'utf8');
  return createRequire(join(root, 'test/package.json'))('yaml').parse(text);
}

/** Documents of partners, with what is wrong in them, and the operations of which one is requested in the short form. */
const partners = [
  { name: '@scalar/galaxy', file: 'dist/3.1.json', step: 1, least: 10, wrong: [] },
  {
    name: '@directus/specs',
    file: 'dist/openapi.json',
    step: 4,
    least: 20,
    wrong: [
      '#/paths/~1items~1{collection}/post/requestBody/content/application~1json/schema: must be an object, is null',
    ],
  },
  { name: '@figma/rest-api-spec', file: 'openapi/openapi.yaml', step: 3, least: 15, wrong: [] },
  { name: '@blockfrost/openapi', file: 'openapi.yaml', step: 8, least: 15, wrong: [] },
  { name: '@gitbook/api', file: 'spec/openapi.yaml', step: 24, least: 15, wrong: [] },
  { name: '@neondatabase/api-client', file: 'public-v2-for-users.gen.yaml', step: 10, least: 15, wrong: [] },
  {
    name: '@interledger/open-payments',
    file: 'dist/openapi/specs/resource-server.yaml',
    step: 1,
    least: 8,
    wrong: [],
  },
  { name: '@octokit/openapi', file: 'generated/api.github.com.json', step: 30, least: 30, wrong: [] },
];

for (const { name, file, step, least, wrong } of partners)
  describe(name, { skip: missingPackage(name) }, () => {
    // Reading YAML of a megabyte and compiling its schemas take longer than all requests.
    const read = once(() => readDocument(name, file));
    const parsed = once(() => parseDocument(read()));
    const validator = once(() => ajvFor(read()));
    for (const [what, manner] of [
      ['by default and with each documented status', { isEachStatus: true }],
      ['with drawn values', { dynamic: true }],
    ] as const)
      test(`operations respond as documented ${what}`, async () => {
        const found = await requestAll(read(), parsed(), validator(), { ...manner, step: long ? 1 : step });
        const errors = found.errors.map((error) => (error instanceof Error ? error.message : String(error)));
        assert.deepEqual({ faults: found.faults, errors }, { faults: [], errors: wrong });
        assert.ok(found.checked >= least, `${found.checked} responses`);
      });
  });
