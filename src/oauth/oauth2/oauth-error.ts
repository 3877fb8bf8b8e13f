// All errors of the endpoints that clients of OAuth 2.0 call have the form of OAuth, those of other steps too (`writeProblem` of
// a resource).

import type { FieldLine } from '../../http/fields.ts';
import type { Problem } from '../../http/problem.ts';
import type { ActionResponse } from '../../pipeline/resource.ts';
import type { AuthenticationTrace } from '../../schemes/trace.ts';
import type { Reason } from '../reasons.ts';

/** An error code of the token endpoint (RFC 6749 §5.2, RFC 8707 §2, RFC 9449 §5, §8). */
type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce';

/** An error response of OAuth 2.0. Only `respondWith` turns it into a response. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly code: OAuthErrorCode;
  /**
   * A sentence for the developer of the client: printable ASCII without quotes and backslashes (RFC 6749 §5.2), and without
   * secrets.
   */
  readonly description: string;
  readonly fields: readonly FieldLine[];
  /** The reason, which is shown in a journal and, with `--explain`, to the client. */
  readonly reason: Reason | undefined;

  constructor(
    code: OAuthErrorCode,
    description: string,
    fields: readonly FieldLine[] = [],
    reason?: Reason | undefined,
  ) {
    super(`${code}: ${description}`);
    this.code = code;
    this.description = description;
    this.fields = fields;
    this.reason = reason;
  }

  /** Returns a copy with a reason. */
  because(reason: Reason): OAuthError {
    return new OAuthError(this.code, this.description, this.fields, reason);
  }
}

/** Prevents storage by HTTP/1.0 caches (RFC 6749 §5.1, §5.2). */
const pragma: FieldLine = ['Pragma', 'no-cache'];

/** A successful response. */
interface OAuthOutcome {
  readonly members: Readonly<Record<string, unknown>>;
  /** For a journal. Default: none. */
  readonly warnings?: readonly string[] | undefined;
}

/**
 * Returns the result of `respond` as JSON, or the error response for its OAuthError: 401 for invalid_client, else 400. Records the
 * reason of the error in the trace.
 *
 * @param explain Whether the description contains the reason.
 */
export async function respondWith(
  respond: () => Promise<OAuthOutcome>,
  explain: boolean,
  authTrace: AuthenticationTrace | undefined,
): Promise<ActionResponse> {
  try {
    const { members, warnings } = await respond();
    return { ...jsonOutcome(200, members, []), warnings };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const { code, description, fields, reason } = error;
    recordRefusal(authTrace, code, description, reason);
    const status = code === 'invalid_client' ? 401 : 400;
    const shown = explain ? describe(description, reason) : description;
    return jsonOutcome(status, { error: code, error_description: shown }, fields);
  }
}

/** Records an error of OAuth 2.0 in the trace of a request. Without a reason, the parameters are wrong. */
export function recordRefusal(
  authTrace: AuthenticationTrace | undefined,
  error: string,
  detail: string,
  { check, hint }: Partial<Reason> = {},
): void {
  if (authTrace === undefined) return;
  authTrace.scheme = 'oauth2';
  authTrace.fail(check ?? 'parameters', { error, detail, ...(hint === undefined ? {} : { hint }) });
}

/**
 * Returns a problem that was found before the endpoint was called, such as content of another type, as an error response of OAuth
 * 2.0 (RFC 6749 §5.2). Status and fields are those of the problem.
 */
export function writeOAuthProblem({ status, detail, headers: fields }: Problem): ActionResponse {
  return jsonOutcome(
    status,
    { error: chooseErrorCode(status), error_description: toPrintable(detail, "'") },
    fields,
  );
}

/** Returns the error code for a status: that of a wrong request, or those of failures (RFC 6749 §4.1.2.1). */
function chooseErrorCode(status: number): string {
  if (status === 429 || status === 503) return 'temporarily_unavailable';
  return status < 500 ? 'invalid_request' : 'server_error';
}

/** Replaces the characters that RFC 6749 §5.2 does not allow, and quotes by `quote`. */
function toPrintable(text: string, quote: string): string {
  return text.replace(/"/g, quote).replace(/[^\x20-\x7e]|\\/g, '?');
}

/** Appends the reason to a description, in the characters that RFC 6749 §5.2 allows. */
export function describe(description: string, reason: Reason | undefined): string {
  if (reason === undefined || reason.isPrivate === true) return description;
  const hint = toPrintable(reason.hint, '?').slice(0, maxHintLength);
  return `${description} Reason: ${hint}.`;
}

/** Maximum length of a reason, which can contain a redirect URI that the client sent. */
const maxHintLength = 1024;

function jsonOutcome(
  status: number,
  value: Readonly<Record<string, unknown>>,
  fields: readonly FieldLine[],
): ActionResponse {
  const representation = { type: 'application/json', body: JSON.stringify(value) };
  return { status, noStore: true, headers: [pragma, ...fields], representation };
}
