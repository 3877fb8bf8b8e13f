import {
  type Attempt,
  adding,
  attempt,
  type HeaderLine,
  type OutgoingRequest,
  refused,
  replacing,
  without,
} from '../attempt.ts';
import { credentialsOf, type Forger, splitCredentials } from '../forger.ts';

/** Fields with which a proxy reports the client's address. They count only from a trusted proxy. */
const addressFields: readonly HeaderLine[] = [
  ['X-Forwarded-For', '127.0.0.1'],
  ['Forwarded', 'for=127.0.0.1'],
  ['X-Real-IP', '127.0.0.1'],
];

/** Requests with missing or wrong credentials that claim to come from the server's own host. */
export function* forgedAddressAttempts(forger: Forger): Generator<Attempt> {
  for (const line of addressFields) {
    const [field] = line;
    const why = `${field} counts only from a trusted proxy, and an address is no proof of identity.`;
    const one = (name: string, request: OutgoingRequest): Attempt =>
      attempt({ name, why, expected: refused, needs: forger.needs, requests: [adding(request, line)] });
    const good = forger.good();
    const credentials = credentialsOf(good);
    if (credentials === undefined) return;
    const bare = { ...good, headers: without(good.headers, credentials[0]) };
    if (!forger.open) yield one(`there are no credentials, and ${field} claims the address 127.0.0.1`, bare);
    const wrong = withWrongProof(forger);
    if (wrong !== undefined)
      yield one(`the proof is another one, and ${field} claims the address 127.0.0.1`, wrong);
  }
}

/** Returns the good request with the letter A for each character of its proof. */
function withWrongProof(forger: Forger): OutgoingRequest | undefined {
  const request = forger.good();
  const credentials = splitCredentials(request);
  if (credentials === undefined) return undefined;
  const { name, before, proof, after } = credentials;
  // The padding remains, so that a digest is well-formed.
  const wrong = proof.replace(/(?:%[0-9a-f]{2}|[^=])/gi, 'A');
  return replacing(request, [name, `${before}${wrong}${after}`]);
}
