import {
  type AttackRequest,
  type Attempt,
  appendLines,
  attempt,
  type HeaderLine,
  refused,
} from '../attempt.ts';
import type { Forger } from '../forger.ts';

/** Fields with which a proxy reports the client's address. They count only from a trusted proxy. */
const addressFields: readonly HeaderLine[] = [
  ['X-Forwarded-For', '127.0.0.1'],
  ['Forwarded', 'for=127.0.0.1'],
  ['X-Real-IP', '127.0.0.1'],
];

/** Requests with missing or wrong credentials that claim to come from the server's own host. */
export function* forgeAddresses(forger: Forger): Generator<Attempt> {
  const why = 'The fields count only from a trusted proxy, and an address is no proof of identity.';
  const one = (name: string, request: AttackRequest): Attempt =>
    attempt({
      id: 'proxy-fields',
      name: `${name}, and forged fields claim the address 127.0.0.1`,
      why,
      expected: refused,
      needs: forger.needs,
      requests: [appendLines(request, ...addressFields)],
    });
  const bare = forger.bare(forger.signGood());
  if (bare === undefined) return;
  if (!forger.open) yield one('there are no credentials', bare);
  const wrong = replaceProof(forger);
  if (wrong !== undefined) yield one('the proof is another one', wrong);
}

/** Returns the good request with the same letter for each character of its proof. */
function replaceProof(forger: Forger): AttackRequest | undefined {
  const credentials = forger.split(forger.signGood());
  if (credentials === undefined) return undefined;
  const { proof } = credentials;
  // The padding and the case of hexadecimal digits remain, so that a digest is well-formed.
  const letter = /^[0-9a-f]+$/.test(proof) ? 'a' : 'A';
  return credentials.replaceProof(proof.replace(/(?:%[0-9a-f]{2}|[^=])/gi, letter));
}
