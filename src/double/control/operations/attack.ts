import { createPrivateKey, type KeyObject } from 'node:crypto';
import { oauth1Methods } from '../../../accounts/oauth1-methods.ts';
import { signatureAlgorithms } from '../../../algorithms.ts';
import type { AttackRequest } from '../../../attack/attempt.ts';
import type { Signer } from '../../../attack/signer.ts';
import { plainSchemes } from '../../../client/credentials.ts';
import type { Credentials, SigningScheme } from '../../../client/index.ts';
import { checkSchemes, namedSchemes } from '../../../schemes/configured-schemes.ts';
import type { SchemeDeclarations } from '../../../schemes/scheme-declarations.ts';
import { flag, listOf, number, object, optional, type ReadBy, text, word } from '../../../shape/shape.ts';
import { anyObject, bytesInBase64, invalid } from '../content.ts';
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
  keyId: optional(text('for message-signatures; default: the user')),
  algorithm: optional(word(signatureAlgorithms, 'for message-signatures with a private key')),
  privateKey: optional(text('for message-signatures and oauth1: a key in PEM, instead of the secret')),
  presign: optional(number({ min: 1 }, 'for aws4: the lifetime of presigned URLs in seconds')),
});

/** The key of a message signature. */
type MessageKey = Extract<SigningScheme, { type: 'message-signatures' }>['key'];

type SignerOptions = ReadBy<typeof signer>;

/** Creates the signer. Throws a Problem if a member is missing or invalid. */
async function createControlSigner(options: SignerOptions, target: Controlled): Promise<Signer> {
  const { createSigner } = await import('../../../attack/signers.ts');
  return createSigner(readCredentials(options, target));
}

function readCredentials(options: SignerOptions, target: Controlled): Credentials {
  const { scheme, form, dateField, signBody } = options;
  switch (scheme) {
    case 'hmac': {
      const user = requireOption(options, 'user');
      return { scheme, user, secret: findSecret(options, target), form, dateField, signBody };
    }
    case 'basic': {
      const user = requireOption(options, 'user');
      return { scheme, user, password: options.secret ?? findPassword(user, target) };
    }
    case 'bearer':
      return { scheme, token: requireOption(options, 'token') };
    case 'oauth1': {
      const { secret, privateKey, token, tokenSecret, signatureMethod, bodyHash } = options;
      if (secret === undefined && privateKey === undefined) throw missing('signer.secret');
      if (token !== undefined && tokenSecret === undefined) throw missing('signer.tokenSecret');
      const client = requireOption(options, 'client');
      const keys = { secret, privateKey: privateKey === undefined ? undefined : parseKey(privateKey) };
      return { scheme, client, ...keys, token, tokenSecret, signatureMethod, bodyHash };
    }
    default:
      return readDeclared(options, target);
  }
}

function readDeclared(options: SignerOptions, target: Controlled): Credentials {
  const declared = buildDeclarations(options);
  const user = requireOption(options, 'user');
  const { 'message-signatures': messages, 'draft-cavage': draft, aws4, declaration } = declared;
  if (messages !== undefined) {
    const { signResponses: _, ...requests } = messages;
    return { scheme: { ...requests, type: 'message-signatures', key: messageKey(options, target) } };
  }
  const secret = findSecret(options, target);
  if (aws4 !== undefined)
    return { scheme: { ...aws4, type: 'aws4', accessKeyId: user, secret, presign: options.presign } };
  if (draft !== undefined) return { scheme: { ...draft, type: 'draft-cavage' }, user, secret };
  if (declaration === undefined) throw invalid('signer.declaration', 'is missing');
  if (!('message' in declaration || 'preset' in declaration || 'secret' in declaration))
    throw invalid('signer.declaration', 'is of another scheme');
  return { scheme: declaration, user, secret };
}

function requireOption(options: SignerOptions, name: 'user' | 'client' | 'token'): string {
  return options[name] ?? missing(`signer.${name}`);
}

/** Returns the given secret, or that of a user of this server. */
function findSecret(options: SignerOptions, target: Controlled): string {
  if (options.secret !== undefined) return options.secret;
  requireMemory(target);
  return target.auth.credentials(requireOption(options, 'user')).secret;
}

/** Returns the password of a user of this server. */
function findPassword(user: string, target: Controlled): string {
  requireMemory(target);
  return target.auth.credentials(user).password ?? missing('signer.secret');
}

/** Returns the declaration under the name of its scheme; a declared scheme and an API key have the name `declaration`. */
function buildDeclarations({ scheme, declaration }: SignerOptions): SchemeDeclarations {
  const isNamed = namedSchemes.some((name) => name === scheme);
  const isOptional = isNamed && scheme !== 'aws4';
  const value = declaration ?? (isOptional ? {} : missing('signer.declaration'));
  const declared: unknown = { [isNamed ? scheme : 'declaration']: value };
  try {
    checkSchemes(declared, 'signer');
    return declared;
  } catch (error) {
    if (error instanceof RangeError) throw invalid('signer.declaration', `is invalid: ${error.message}`);
    throw error;
  }
}

function messageKey(options: SignerOptions, target: Controlled): MessageKey {
  const { keyId: id = requireOption(options, 'user'), privateKey, algorithm } = options;
  if (privateKey === undefined) return { id, secret: findSecret(options, target) };
  if (algorithm === undefined) throw invalid('signer.algorithm', 'is missing');
  return { id, algorithm, privateKey: parseKey(privateKey) };
}

function parseKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw invalid('signer.privateKey', 'is not a private key in PEM');
  }
}

function missing(field: string): never {
  throw invalid(field, 'is missing');
}
