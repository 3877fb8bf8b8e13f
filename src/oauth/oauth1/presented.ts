// Reads the credentials of a signed request (RFC 5849 §3.1), and checks what shows without the consumer.

import { isRsaMethod, type OAuth1Method, oauth1Methods } from '../../accounts/oauth1-methods.ts';
import { hasForm, holdForm } from '../../http/form.ts';
import { type IncomingRequest, isConfidential } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { explainSecondsForm } from '../../schemes/freshness.ts';
import { rsaKinds } from '../../schemes/oauth1/base-string.ts';
import type { Fault, Presented } from '../../schemes/scheme.ts';
import type { OAuthContext } from '../context.ts';
import { hashSha256 } from '../sha256.ts';
import { absenceProblem, checks, type SignedFor } from './checks.ts';
import { addAdvice, oauth1Error, rejectedParameters } from './error.ts';
import { addForm, mayHaveProtocol, type OAuth1Parameters, readSignedParameters } from './parameters.ts';
import { createTokenSecrets, type SecretKind } from './secrets.ts';

/** The credentials of a signed request. The user is the consumer. */
export interface OAuth1Presented extends Presented {
  readonly parameters: OAuth1Parameters;
  /** Whether the content is a form, whose parameters are signed. */
  readonly signsForm: boolean;
  readonly method: OAuth1Method;
  readonly signature: string;
  /** The value of the token, and the secret that it has or would have; both empty without a token. */
  readonly token: string;
  readonly tokenSecret: string;
  /** The name under which failures and nonces of the consumer are counted. No user can have it. */
  readonly countedAs: string;
}

/** Reads the credentials of requests for one purpose. */
export interface Reader {
  /**
   * Reads the credentials in the Authorization field, the query or the form. Resolves to undefined if there are none. Rejects with
   * a Problem if the form is incomplete or too long (413).
   *
   * @param rest The part of the Authorization field after `OAuth`; undefined without the field.
   */
  read(request: IncomingRequest, rest: string | undefined): Promise<OAuth1Presented | Fault | undefined>;
  /** Adds the parameters of a form. */
  addContent(presented: OAuth1Presented, content: Uint8Array): OAuth1Presented | Fault;
  /** Returns the fault of a request without credentials. */
  readonly absent: Fault;
}

/** Creates the reader for a purpose. */
export function createReader(signedFor: SignedFor, context: OAuthContext): Reader {
  const { bodyLimit } = context;
  const deriveSecret = createTokenSecrets(context.masterKey);
  const kind = chooseTokenKind(signedFor);

  const present = (request: IncomingRequest, parameters: OAuth1Parameters): OAuth1Presented | Fault => {
    const { protocol } = parameters;
    const fault = findFault(protocol, signedFor, context);
    if (fault !== undefined) return fault;
    const method = oauth1Methods.find((each) => each === protocol.get('oauth_signature_method'));
    // PLAINTEXT sends the secrets (RFC 5849 §3.4.4).
    if (method === 'PLAINTEXT' && !isConfidential(request.connection))
      return faultWith(tlsRequired(), 'tls', claimedBy(protocol));
    return method === undefined || !context.consumers.some((one) => one.methods.includes(method))
      ? faultWith(methodRejected(), 'method', claimedBy(protocol))
      : buildPresented(request, parameters, method, deriveSecret(kind, protocol.get('oauth_token') ?? ''));
  };

  const readField = (request: IncomingRequest, rest: string): OAuth1Presented | Fault => {
    const parameters = readSignedParameters(request, rest);
    return parameters instanceof Problem ? faultWith(parameters, 'parse') : present(request, parameters);
  };

  return {
    async read(request, rest) {
      if (rest !== undefined) return readField(request, rest);
      const parameters = readSignedParameters(request, rest);
      if (parameters instanceof Problem) return faultWith(parameters, 'parse');
      if (parameters.protocol.size > 0) return present(request, parameters);
      if (!hasForm(request)) return undefined;
      const content = await holdForm(request, bodyLimit);
      if (!mayHaveProtocol(content)) return undefined;
      const complete = addForm(parameters, content);
      if (complete instanceof Problem) return faultWith(complete, 'parse');
      return complete.protocol.size === 0 ? undefined : present(request, complete);
    },
    addContent(presented, content) {
      const parameters = addForm(presented.parameters, content);
      return parameters instanceof Problem
        ? faultWith(parameters, 'parse', presented.countedAs)
        : { ...presented, parameters };
    },
    get absent() {
      const problem = absenceProblem(new Map(), signedFor) ?? oauth1Error('parameter_absent', '');
      return faultWith(problem, 'presence');
    },
  };
}

/** Returns the kind of token with which requests for a purpose are signed. */
export function chooseTokenKind(signedFor: SignedFor): SecretKind {
  return signedFor === 'resource' ? 'access' : 'request';
}

function faultWith(problem: Problem, check: string, claimed?: string, hint?: string): Fault {
  const { detail } = problem;
  return { detail, check, problem, hint, claimed };
}

/** Returns the name under which failures of the consumer are counted; undefined if it is not named. */
function claimedBy(protocol: OAuth1Parameters['protocol']): string | undefined {
  const consumer = protocol.get('oauth_consumer_key');
  return consumer === undefined ? undefined : formatCountedName(consumer);
}

/** Returns the first fault of the protocol parameters. */
function findFault(
  protocol: OAuth1Parameters['protocol'],
  signedFor: SignedFor,
  { explain }: OAuthContext,
): Fault | undefined {
  for (const [name, check] of checks) {
    const problem = check(protocol, signedFor);
    if (problem !== undefined) return faultWith(problem, name, claimedBy(protocol));
  }
  const sent = protocol.get('oauth_timestamp');
  if (sent === undefined || parseTime(sent) !== undefined) return undefined;
  const hint = explainSecondsForm(sent);
  const detail = 'oauth_timestamp must be a positive number of seconds since 1970.';
  const problem = rejectedParameters(detail, ['oauth_timestamp']);
  return faultWith(explain ? addAdvice(problem, hint) : problem, 'timestamp', claimedBy(protocol), hint);
}

/** Returns the Problem (400) of a signature method that is not allowed. */
export function methodRejected(): Problem {
  return oauth1Error('signature_method_rejected', 'The signature method is not supported here.');
}

/** Returns the Problem (403) of a request over plain HTTP that requires TLS. */
export function tlsRequired(): Problem {
  return new Problem('tls-required', 'These credentials require TLS. They were sent over plain HTTP.');
}

/** Returns a timestamp in ms; undefined if it is not a positive integer (RFC 5849 §3.3). */
function parseTime(sent: string): number | undefined {
  return /^[1-9][0-9]{0,11}$/.test(sent) ? Number(sent) * 1000 : undefined;
}

function buildPresented(
  request: IncomingRequest,
  parameters: OAuth1Parameters,
  method: OAuth1Method,
  secret: string,
): OAuth1Presented {
  const { protocol } = parameters;
  const readText = (name: string): string => protocol.get(name) ?? '';
  const [user, token, signature] = [
    readText('oauth_consumer_key'),
    readText('oauth_token'),
    readText('oauth_signature'),
  ];
  const timestamp = protocol.get('oauth_timestamp');
  return {
    request,
    user,
    countedAs: formatCountedName(user),
    signatures: [method === 'PLAINTEXT' ? Buffer.from(signature, 'utf8').toString('base64') : signature],
    kinds: [isRsaMethod(method) ? rsaKinds[method] : 'secret'],
    needs: parameters.form === undefined ? 'form' : undefined,
    time: timestamp === undefined ? undefined : parseTime(timestamp),
    // A nonce is unique for its consumer, token and timestamp (RFC 5849 §3.3).
    nonce: timestamp && digestOfAll([user, token, timestamp, readText('oauth_nonce')]),
    parameters,
    signsForm: hasForm(request),
    method,
    signature,
    token,
    tokenSecret: token === '' ? '' : secret,
  };
}

/** Returns the name under which failures and nonces of a consumer are counted: a digest, so that files contain no text of clients. */
function formatCountedName(consumer: string): string {
  return `oauth1:${digestOfAll([consumer])}`;
}

/** Returns the digest of several texts. JSON makes the encoding of the list unambiguous. */
function digestOfAll(texts: readonly string[]): string {
  return hashSha256(JSON.stringify(texts));
}
