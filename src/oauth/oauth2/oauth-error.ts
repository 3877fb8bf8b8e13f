import type { FieldLine } from '../../http/fields.ts';
import type { Outcome } from '../../pipeline/resource.ts';

/** An error code of the token endpoint (RFC 6749 §5.2). */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope';

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

  constructor(code: OAuthErrorCode, description: string, fields: readonly FieldLine[] = []) {
    super(`${code}: ${description}`);
    this.code = code;
    this.description = description;
    this.fields = fields;
  }
}

/** Prevents storage by HTTP/1.0 caches (RFC 6749 §5.1, §5.2). */
const pragma: FieldLine = ['Pragma', 'no-cache'];

/** Returns the result of `respond` as JSON, or the error response for its OAuthError: 401 for invalid_client, else 400. */
export async function respondWith(
  respond: () => Promise<Readonly<Record<string, unknown>>>,
): Promise<Outcome> {
  try {
    return jsonOutcome(200, await respond(), []);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const { code, description, fields } = error;
    const status = code === 'invalid_client' ? 401 : 400;
    return jsonOutcome(status, { error: code, error_description: description }, fields);
  }
}

function jsonOutcome(
  status: number,
  value: Readonly<Record<string, unknown>>,
  fields: readonly FieldLine[],
): Outcome {
  const representation = { type: 'application/json', content: JSON.stringify(value) };
  return { status, noStore: true, fields: [pragma, ...fields], representation };
}
