/** The problem types that an operation can have. */
import { problemsOfDates } from '../../auth/auth-scheme.ts';
import type { ProblemType } from '../../http/problem-types.ts';
import type { Access } from '../../pipeline/resource.ts';

type Types = readonly ProblemType[];

/** Problems of any request, found before the resource or in any step. */
const ofEveryRequest: Types = [
  ...(['malformed-request', 'malformed-host', 'repeated-field', 'malformed-field'] as const),
  ...(['malformed-target', 'content-incomplete', 'content-too-large', 'digest-mismatch'] as const),
  ...(['request-timeout', 'expectation-failed', 'header-too-large', 'internal-error'] as const),
  ...(['transfer-coding-not-implemented', 'stopping', 'full', 'store-unavailable'] as const),
  ...(['target-too-long', 'version-not-supported'] as const),
];

/** Problems of credentials of any scheme. */
const ofCredentials: Types = [
  ...(['malformed-credentials', 'several-credentials', 'scheme-not-offered', 'credentials-refused'] as const),
  ...(['tls-required', 'too-many-failures'] as const),
];

/** The further problems of the credentials of the schemes that need no configuration. */
export const problemsOfBuiltIn = {
  basic: ['too-many-attempts'],
  hmac: [...problemsOfDates, 'date-missing', 'simple-form-refused', 'digest-required'],
  bearer: ['token-refused', 'insufficient-scope', 'too-many-tokens'],
  oauth: [
    ...(['oauth1-parameter-absent', 'oauth1-parameter-rejected', 'oauth1-version-rejected'] as const),
    ...(['oauth1-signature-method-rejected', 'oauth1-signature-invalid', 'oauth1-token-rejected'] as const),
    ...(['oauth1-timestamp-refused', 'oauth1-nonce-used', 'nonces-lost', 'too-many-nonces'] as const),
    ...(['insufficient-scope', 'unsupported-content-coding'] as const),
  ],
} satisfies Readonly<Record<string, Types>>;

/** Problems of content that is read. */
const ofContent: Types = [
  ...(['unsupported-media-type', 'unsupported-content-coding', 'unsupported-charset'] as const),
  ...(['content-missing', 'content-coding-broken'] as const),
];

/** Further problems of content that is an item. */
export const ofItemContent: Types = [
  ...(['xml-malformed', 'limit-exceeded', 'doctype-refused', 'json-malformed', 'invalid-content'] as const),
];

/** Problems of preconditions. */
export const ofPreconditions: Types = ['precondition-failed'];

/** Problems of a change of stored data. */
export const ofChanges: Types = ['store-full'];

/** An operation whose problems are determined. */
interface ProblemSource {
  readonly access: Access;
  /** Whether it reads content. */
  readonly reads: boolean;
  readonly method: string;
  /** Whether the requests of users or peers are limited. */
  readonly quota: boolean;
  /** The types beside those that follow from the other members. */
  readonly further: Types;
}

/** Returns the problem types that an operation can have, each once. */
export function listProblemTypes(source: ProblemSource): Types {
  const { access, reads, method, quota, further } = source;
  return [
    ...new Set<ProblemType>([
      ...ofEveryRequest,
      ...ofCredentials,
      ...(access === 'anyone' ? [] : (['authentication-required', 'forbidden'] as const)),
      ...(reads ? ofContent : []),
      ...(method === 'PUT' ? (['content-range-on-put'] as const) : []),
      ...(quota ? (['quota-exceeded'] as const) : []),
      ...further,
    ]),
  ];
}
