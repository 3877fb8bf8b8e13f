import type { FieldLine } from '../../http/fields.ts';
import type { Outcome } from '../../pipeline/resource.ts';

/** What an endpoint of OAuth 2.0 can say was wrong (RFC 6749 §5.2). */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope';

/** A refusal in the words of OAuth 2.0. Thrown behind an endpoint, made a reply by `answerWith` alone. */
export class OAuthError extends Error {
  override readonly name = 'Refusal';
  readonly code: OAuthErrorCode;
  /** A sentence for who writes the client: printable ASCII without quotes and backslashes, and nothing secret. */
  readonly description: string;
  readonly fields: readonly FieldLine[];

  constructor(code: OAuthErrorCode, description: string, fields: readonly FieldLine[] = []) {
    super(`${code}: ${description}`);
    this.code = code;
    this.description = description;
    this.fields = fields;
  }
}

/** Never kept, by old caches neither (RFC 6749 §5.1, §5.2). */
const pragma: FieldLine = ['Pragma', 'no-cache'];

/** Replies with what an endpoint gives as JSON, or with its Refusal: 401 where the client is not known for sure, else 400. */
export async function respondWith(give: () => Promise<Readonly<Record<string, unknown>>>): Promise<Outcome> {
  try {
    return jsonOutcome(200, await give(), []);
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
