import { parseQueryOf } from '../../http/form.ts';
import type { Request } from '../../http/message.ts';
import { type Action, action } from '../../pipeline/resource.ts';
import type { Client } from '../clients.ts';
import { tooManyParameters } from '../consent/consent-page.ts';
import { type FormContent, formReading } from '../form-body.ts';
import { readParameters } from '../parameters.ts';
import type { Admitted, AuthenticateClient, ReadValues } from './client-authentication.ts';
import { OAuthError, respondWith } from './oauth-error.ts';

/** What a client sent to an endpoint that it authenticates at. */
export interface ClientRequest {
  readonly client: Client;
  readonly values: ReadonlyMap<string, string>;
  readonly request: Request;
}

/** Gives what an endpoint replies with, to be written as JSON. Rejects with a Refusal. */
export type Respond = (request: ClientRequest) => Promise<Readonly<Record<string, unknown>>>;

const clientParameters = ['client_id', 'client_secret'];

/** Parameters that are refused in the query, which ends up in logs (RFC 6749 §2.3.1, §3.2). */
const neverInQuery: ReadonlySet<string> = new Set([
  ...clientParameters,
  'access_token',
  'client_assertion',
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

/** An endpoint of clients. */
export interface Endpoint {
  readonly authenticate: AuthenticateClient;
  readonly admits: Admitted;
  /** The parameters that it takes besides those by which the client authenticates. */
  readonly names: readonly string[];
  readonly respond: Respond;
}

/** Makes the POST of an endpoint. */
export function clientAction({
  authenticate,
  admits,
  names,
  respond,
}: Endpoint): Action<unknown, FormContent> {
  const known = [...clientParameters, ...names];
  return action(
    'anyone',
    ({ request, content }) =>
      respondWith(async () => {
        const authenticated = await authenticate(request, valuesOf(request, content, known), admits);
        return respond({ ...authenticated, request });
      }),
    { reads: [formReading] },
  );
}

/** The value of a parameter. Throws a Refusal (invalid_request) where it is missing. */
export function requiredParameter(values: ReadonlyMap<string, string>, name: string): string {
  const value = values.get(name);
  if (value === undefined) throw missingParameter(name);
  return value;
}

/** The refusal of a request without a parameter that has to be there (RFC 6749 §5.2). */
export function missingParameter(name: string): OAuthError {
  return new OAuthError('invalid_request', `${name} is missing.`);
}

function valuesOf(
  { target }: Request,
  content: FormContent | undefined,
  known: readonly string[],
): ReadValues {
  const query = parseQueryOf(target);
  if (query === undefined || query.some(([name]) => neverInQuery.has(name)))
    return new OAuthError('invalid_request', 'Parameters are sent in the content, and none in the query.');
  if (content === 'too-many-parameters') return new OAuthError('invalid_request', tooManyParameters);
  if (content === undefined || content === 'malformed')
    return new OAuthError('invalid_request', 'The content does not decode as a form in UTF-8.');
  const { values, repeated } = readParameters(content, known);
  if (repeated[0] === undefined) return values;
  return new OAuthError('invalid_request', `${repeated[0]} was sent more than once.`);
}
