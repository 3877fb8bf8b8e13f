import { oauth1Methods } from '../../../accounts/oauth1-methods.ts';
import { signatureAlgorithms } from '../../../algorithms.ts';
import type { AttackRequest } from '../../../attack/attempt.ts';
import type { Signer } from '../../../attack/signer.ts';
import { plainKeys, plainSchemes } from '../../../client/credentials.ts';
import { privateKeyShape } from '../../../client/private-key.ts';
import type { ReadDeclaration } from '../../../client/read-declaration.ts';
import { type ConfigurableScheme, namedSchemes, readScheme } from '../../../schemes/configured-schemes.ts';
import {
  addKeywords,
  flag,
  listOf,
  number,
  object,
  optional,
  type ReadBy,
  selectMembers,
  text,
  word,
} from '../../../shape/shape.ts';
import { anyObject, bytesInBase64, invalid, readContent } from '../content.ts';
import { type Controlled, type Operation, operation, requireMemory } from '../operation.ts';

/** The operation that generates requests which a correct server refuses. The caller sends them. */
export function attackOperations(target: Controlled): readonly Operation[] {
  return [
    operation('POST', '/adversary', 'adversary', {
      returns: attemptsSchema,
      summary: 'Generates, from one valid request, forged requests that a correct server refuses',
      description:
        'The caller sends the requests. They are dated by this server’s clock at the time of the call. By default, secret, password and token are those of this server’s user, which requires a server in memory.',
      accepts: object({
        request: object({
          method: optional(text('default: GET')),
          url: text('absolute URL'),
          headers: optional(listOf(listOf(text()), 'pairs of name and value')),
          body: optional(text('content as text')),
          base64: optional(bytesInBase64('content as bytes, instead of body')),
        }),
        signer,
        window: optional(
          number({ min: 0 }, 'seconds by which the server accepts a date to differ; default: 600'),
        ),
        otherUser: optional(text('another user of the server')),
        open: optional(flag('whether the request is permitted without credentials')),
      }),
      async run({ request: { headers = [], base64, ...request }, signer: signing, ...options }) {
        const { createAttempts } = await import('../../../attack/create-attempts.ts');
        const good = { ...request, headers: headers.map(readPair), body: base64 ?? request.body };
        const made = createAttempts(good, await createControlSigner(signing, target), {
          ...options,
          clock: target.clock,
        });
        return {
          attempts: made.map(({ requests, request: _, entityTagFrom, ...others }) => ({
            ...others,
            ...(entityTagFrom !== undefined && { entityTagFrom: toJson(entityTagFrom) }),
            requests: requests.map(toJson),
          })),
        };
      },
    }),
  ];
}

function readPair(pair: readonly string[]): readonly [string, string] {
  const [name, value] = pair;
  if (pair.length === 2 && name !== undefined && value !== undefined) return [name, value];
  throw invalid('request.headers', 'must contain pairs of name and value');
}

/** Returns a request as JSON, with binary content in base64. */
function toJson({ body, ...request }: AttackRequest) {
  if (body === undefined) return request;
  return typeof body === 'string'
    ? { ...request, body }
    : { ...request, base64: Buffer.from(body).toString('base64') };
}

const requestShape = object({
  method: text(),
  url: text(),
  body: optional(text()),
  base64: optional(text()),
  headers: listOf(listOf(text()), 'field lines in the order to send; a name may occur twice'),
});

const attemptsSchema = object({
  attempts: listOf(
    object({
      id: text('the weakness of a server that accepts the request; several attempts can have the same'),
      severity: word(['high', 'medium', 'low'], 'how much an attacker gains by it'),
      proves: text('what it proves if the server accepts the request'),
      remedy: text('what the server must do'),
      name: text(),
      why: text(),
      requests: listOf(
        requestShape,
        'the requests in the order to send; the verdict is that of the last one',
      ),
      expected: listOf(number({}), 'the expected statuses of the last request'),
      needs: optional(word(['tls', 'plain'], 'the required transport; absent if there is none')),
      anotherConnection: flag('whether the last request requires a new connection'),
      together: flag(
        'whether the requests are sent at the same time, over a connection each; exactly one must be accepted',
      ),
      entityTagFrom: optional(requestShape),
    }),
  ),
});

/** The signer of the adversary's requests. */
const signer = object({
  scheme: word([...plainSchemes, ...namedSchemes, 'declared', 'api-key']),
  user: optional(text('for all schemes but bearer and oauth1; also the access key id of aws4')),
  secret: optional(text('the secret, the password (basic), or the client’s secret (oauth1)')),
  form: optional(word(['full', 'simple'], 'for hmac')),
  dateField: optional(word(['Date', 'X-Date'], 'for hmac')),
  signBody: optional(flag('for hmac: whether the body is signed; default: true')),
  client: optional(text('for oauth1: the key of the client')),
  token: optional(text('for bearer and oauth1; default of oauth1: none')),
  tokenSecret: optional(text('for oauth1')),
  signatureMethod: optional(word(oauth1Methods, 'for oauth1; default: HMAC-SHA256, or RSA-SHA256')),
  bodyHash: optional(flag('for oauth1: whether oauth_body_hash is sent; default: false')),
  declaration: optional(
    anyObject('the scheme as in the configuration; required for aws4, declared and api-key'),
  ),
  keyId: optional(text('the id of the key, for schemes with a declaration; default: the user')),
  algorithm: optional(word(signatureAlgorithms, 'for message-signatures with a private key')),
  privateKey: optional(
    addKeywords(privateKeyShape, {
      description: 'for message-signatures and oauth1: a key in PEM, instead of the secret',
    }),
  ),
  presign: optional(number({ min: 1 }, 'for aws4: the lifetime of presigned URLs in seconds')),
});

type SignerOptions = ReadBy<typeof signer>;

/** Creates the signer. Throws a Problem if a member is missing or invalid. */
async function createControlSigner(options: SignerOptions, target: Controlled): Promise<Signer> {
  const { createReadSigner } = await import('../../../attack/signers.ts');
  const plain = plainSchemes.find((each) => each === options.scheme);
  return createReadSigner(
    plain === undefined ? readDeclared(options, target) : readPlain(plain, options, target),
  );
}

/** Reads the credentials of a scheme that needs no declaration. */
function readPlain(
  scheme: (typeof plainSchemes)[number],
  options: SignerOptions,
  target: Controlled,
): ReadDeclaration {
  const { names, shape } = plainKeys[scheme];
  const secret = names.includes('user') ? findSecret(options, target) : options.secret;
  const given = selectMembers({ ...options, secret, password: secret }, names);
  return { ...readContent(object({ signer: shape }), { signer: given }).signer, choices: {} };
}

/** Reads the credentials of a scheme as in the configuration. */
function readDeclared(options: SignerOptions, target: Controlled): ReadDeclaration {
  const { user, keyId, algorithm, privateKey, presign } = options;
  if (user === undefined) throw invalid('signer.user', 'is missing');
  const scheme = readDeclaration(options, user);
  const key = privateKey === undefined ? { secret: findSecret(options, target) } : { privateKey, algorithm };
  return { scheme, identity: { user, keyId, ...key }, choices: { presign } };
}

/** Reads the declaration of a scheme. Throws a Problem if it is invalid. */
function readDeclaration({ scheme, declaration = {} }: SignerOptions, user: string): ConfigurableScheme {
  const name = namedSchemes.find((each) => each === scheme) ?? 'declaration';
  try {
    return readScheme(name, declaration, 'signer.declaration', user);
  } catch (error) {
    if (error instanceof RangeError) throw invalid('signer.declaration', `is invalid: ${error.message}`);
    throw error;
  }
}

/** Returns the given secret, or that of a user of this server; for Basic it is the password. */
function findSecret({ scheme, user, secret }: SignerOptions, target: Controlled): string | undefined {
  if (secret !== undefined || user === undefined) return secret;
  requireMemory(target);
  const known = target.auth.credentials(user);
  const found = scheme === 'basic' ? known.password : known.secret;
  if (found === undefined) throw invalid('signer.secret', 'is missing');
  return found;
}
