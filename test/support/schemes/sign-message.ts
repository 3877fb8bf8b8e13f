import { type MessageSigning, signMessage as signUnsigned } from '../../../src/schemes/rfc9421/sign.ts';

/** A request to sign. */
export interface RequestToSign {
  readonly method: string;
  readonly url: string | URL;
  /** Default: that of the URL. */
  readonly target?: string;
  readonly fields?: readonly (readonly [name: string, value: string])[];
  readonly content?: string | Uint8Array;
}

/** The fields of a signed request. */
interface SignedFields {
  readonly 'Content-Digest'?: string;
  readonly 'Signature-Input': string;
  readonly Signature: string;
}

/** Signs a request as a client does, and returns the fields to add to it. */
export function signMessage(request: RequestToSign, signing: MessageSigning): SignedFields {
  const url = new URL(request.url);
  const { method, target = url.pathname + url.search, fields = [], content } = request;
  const bytes = content === undefined ? undefined : Buffer.from(content);
  const signed = signUnsigned({ method, url, target, fields, content: bytes }, signing);
  return { 'Signature-Input': '', Signature: '', ...Object.fromEntries(signed.fields) };
}
