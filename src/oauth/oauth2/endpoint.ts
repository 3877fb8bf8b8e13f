import { parseTargetQuery } from '../../http/form.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { action, type Resource } from '../../pipeline/resource.ts';
import { findTrace } from '../../schemes/trace.ts';
import type { Client } from '../clients.ts';
import { tooManyParameters } from '../consent/consent-page.ts';
import type { OAuthContext } from '../context.ts';
import { type FormContent, formReading, jsonReading } from '../form-body.ts';
import { readParameters } from '../parameters.ts';
import type { Admitted, AuthenticateClient, ReadValues } from './client-authentication.ts';
import { OAuthError, respondWith, writeOAuthProblem } from './oauth-error.ts';

/** The request of an authenticated client. */
export interface ClientRequest {
  readonly client: Client;
  readonly values: ReadonlyMap<string, string>;
  readonly request: IncomingRequest;
  /** The thumbprint of the key to which a token is to be bound (RFC 9449). Default: none. */
  readonly key?: string | undefined;
}

/** Returns the members of the JSON response. Rejects with an OAuthError. */
export type Respond = (request: ClientRequest) => Promise<Readonly<Record<string, unknown>>>;

const clientParameters = ['client_id', 'client_secret', 'client_assertion', 'client_assertion_type'];

/** Parameters that are refused in the query, because queries appear in logs (RFC 6749 §2.3.1, §3.2). */
const neverInQuery: ReadonlySet<string> = new Set([
  ...clientParameters,
  'access_token',
  'code',
  'code_verifier',
  'grant_type',
  'password',
  'redirect_uri',
  'refresh_token',
  'scope',
  'token',
  'username',
]);

/** An endpoint at which clients authenticate. */
interface Endpoint {
  readonly authenticate: AuthenticateClient;
  readonly admits: Admitted;
  /** Its parameters other than those of client authentication. */
  readonly names: readonly string[];
  readonly respond: Respond;
  /** Whether JSON is accepted in place of a form. Default: false. */
  readonly readsJson?: boolean;
}

/** Creates an endpoint, all of whose errors have the form of OAuth. */
export function clientEndpoint(
  { explain }: Pick<OAuthContext, 'explain'>,
  { authenticate, admits, names, respond, readsJson = false }: Endpoint,
): Resource<unknown, FormContent> {
  const allNames = [...clientParameters, ...names];
  const post = action<unknown, FormContent>(
    'anyone',
    ({ incoming: request, body: content }) =>
      respondWith(
        async () => {
          const authenticated = await authenticate(request, readValues(request, content, allNames), admits);
          findTrace(request)?.pass('client');
          const { client, values, warnings } = authenticated;
          return { members: await respond({ client, values, request }), warnings };
        },
        explain,
        findTrace(request),
      ),
    { reads: readsJson ? [formReading, jsonReading] : [formReading] },
  );
  return { ownCredentials: true, writeProblem: writeOAuthProblem, POST: post };
}

/** Returns the value of a parameter. Throws an OAuthError (invalid_request) if it is missing. */
export function requireParameter(values: ReadonlyMap<string, string>, name: string): string {
  const value = values.get(name);
  if (value === undefined) throw missingParameter(name);
  return value;
}

/** Returns the error for a missing parameter (RFC 6749 §5.2). */
export function missingParameter(name: string): OAuthError {
  return new OAuthError('invalid_request', `${name} is missing.`);
}

function readValues(
  { target }: IncomingRequest,
  content: FormContent | undefined,
  names: readonly string[],
): ReadValues {
  const query = parseTargetQuery(target);
  if (query === undefined || query.some(([name]) => neverInQuery.has(name)))
    return new OAuthError('invalid_request', 'Send the parameters in the content, not in the query.');
  if (content === 'too-many-parameters') return new OAuthError('invalid_request', tooManyParameters);
  if (content === undefined || content === 'malformed')
    return new OAuthError('invalid_request', 'The content is not a valid form in UTF-8.');
  // A form of one name without a value.
  if (/^\s*\{"/.test(content[0]?.[0] ?? ''))
    return new OAuthError('invalid_request', 'The content is JSON, and its type is that of a form.');
  const { values, repeated } = readParameters(content, names);
  if (repeated[0] === undefined) return values;
  return new OAuthError('invalid_request', `${repeated[0]} occurs more than once.`);
}
