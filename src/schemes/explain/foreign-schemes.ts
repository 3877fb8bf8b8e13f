// Credentials of schemes that are not configured, or cannot be: what was sent, and what to use.
import type { HttpHeaders } from '../../http/fields.ts';

/** What a request shows of its credentials. */
interface ForeignRequest {
  readonly fields: HttpHeaders;
  readonly target: string;
}

interface ForeignScheme {
  readonly isShownBy: (request: ForeignRequest) => boolean;
  readonly hint: string;
}

const matchAuthorization =
  (form: RegExp) =>
  ({ fields }: ForeignRequest): boolean =>
    form.test(fields.get('authorization') ?? '');

const foreignSchemes: readonly ForeignScheme[] = [
  {
    isShownBy: matchAuthorization(/^DPoP /i),
    hint: 'the scheme DPoP was sent (RFC 9449), and oauth2.dpop is off; send the access token with Bearer',
  },
  {
    isShownBy: matchAuthorization(/^AWS4-ECDSA-P256-SHA256 /i),
    hint: 'AWS Signature Version 4A was sent, which is not verified; sign with Version 4 (AWS4-HMAC-SHA256), and configure the scheme aws4',
  },
  {
    isShownBy: ({ target }) => /[?&]X-Amz-Algorithm=AWS4-ECDSA-P256-SHA256(?:&|$)/i.test(target),
    hint: 'a URL presigned with AWS Signature Version 4A was sent, which is not verified; presign it with Version 4, and configure the scheme aws4',
  },
  {
    isShownBy: (request) =>
      matchAuthorization(/^AWS4-HMAC-SHA256 /i)(request) || /[?&]X-Amz-Signature=/.test(request.target),
    hint: 'AWS Signature Version 4 was sent; configure the scheme aws4',
  },
  {
    isShownBy: ({ fields }) => fields.has('signature-input') && fields.has('signature'),
    hint: 'an HTTP Message Signature (RFC 9421) was sent; configure the scheme message-signatures',
  },
  {
    isShownBy: (request) =>
      matchAuthorization(/^Signature .*keyId=/i)(request) ||
      /\bkeyId="/.test(request.fields.get('signature') ?? ''),
    hint: 'a signature of draft-cavage-http-signatures was sent; configure the scheme draft-cavage, or sign as RFC 9421 says',
  },
  {
    isShownBy: ({ fields }) =>
      !fields.has('authorization') && /^multipart\/form-data\b/i.test(fields.get('content-type') ?? ''),
    hint: 'a form was sent without credentials in its header section; those within a form (a POST policy of Amazon S3) are not read: sign the request, or presign its URL',
  },
];

/** Returns what was sent and what to use; undefined if the credentials are of no scheme that is known here. */
export function describeForeignScheme(request: ForeignRequest): string | undefined {
  return foreignSchemes.find(({ isShownBy }) => isShownBy(request))?.hint;
}
