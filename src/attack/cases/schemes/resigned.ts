import type { OutgoingRequest } from '../../attempt.ts';
import type { SignatureSpec } from '../../signers/schemes.ts';

/** Signs the good request, or another one, with changes to what the signature covers and to its parameters. */
export type Resigned = (
  change: (spec: SignatureSpec) => SignatureSpec,
  request?: OutgoingRequest,
) => OutgoingRequest | undefined;
