import { createTokenSecrets } from '../../oauth/oauth1/secrets.ts';
import type { ClientOption, ConsumerOption, ServiceOptions, UserOption } from '../../service/options.ts';
import { secretsOf } from '../state/users.ts';

/** The maximum number of remembered tokens. The oldest are forgotten first. */
const mostTokens = 100_000;
/** The length in bytes of the random values that become tokens, codes, tickets and verifiers. */
const tokenBytes = 32;

/**
 * The credentials that a double ever had, for redaction: also former secrets, and those of timelines that a restore ended.
 * Names are public, so a secret that equals one is not included.
 */
export class KnownCredentials {
  readonly #names = new Set<string>();
  readonly #secrets = new Set<string>();
  readonly #tokens = new Set<string>();
  /** Issued values whose token secrets of OAuth 1.0a were not derived yet. */
  #underived: string[] = [];
  readonly #tokenSecrets: ReturnType<typeof createTokenSecrets>;

  /** @param masterKey the key from which token secrets are derived */
  constructor(masterKey: Uint8Array) {
    this.#tokenSecrets = createTokenSecrets(masterKey);
  }

  /** All secrets and passwords that do not equal a name. */
  get secrets(): readonly string[] {
    return [...this.#secrets].filter((secret) => !this.#names.has(secret));
  }

  /** Returns whether a text is a token, a code, a ticket, a verifier or a token secret that was issued. */
  isToken(text: string): boolean {
    for (const token of this.#underived.splice(0))
      for (const kind of ['request', 'access'] as const) this.#remember(this.#tokenSecrets(kind, token));
    return this.#tokens.has(text);
  }

  /** Remembers users with their secrets and passwords. */
  addUsers(users: ReadonlyMap<string, UserOption>): void {
    for (const [name, user] of users) {
      this.#names.add(name);
      for (const secret of secretsOf(user)) this.#secrets.add(secret);
    }
  }

  /** Remembers clients and consumers with their secrets. */
  addRegistered({ clients = {}, consumers = {} }: Pick<ServiceOptions, 'clients' | 'consumers'>): void {
    const registered = [...entriesOf<ClientOption>(clients), ...entriesOf<ConsumerOption>(consumers)];
    for (const [name, { secret }] of registered) {
      this.#names.add(name);
      if (typeof secret === 'string') this.#secrets.add(secret);
    }
  }

  /** Returns a source of random bytes whose values are remembered where they can become tokens. */
  remembering(random: (size: number) => Uint8Array): (size: number) => Uint8Array {
    return (size) => {
      const bytes = random(size);
      if (size === tokenBytes) this.#issue(Buffer.from(bytes).toString('base64url'));
      return bytes;
    };
  }

  #issue(value: string): void {
    this.#remember(value);
    this.#underived.push(value);
    if (this.#underived.length > mostTokens) this.#underived = this.#underived.slice(-mostTokens / 2);
  }

  #remember(value: string): void {
    this.#tokens.add(value);
    if (this.#tokens.size <= mostTokens) return;
    const [oldest] = this.#tokens;
    if (oldest !== undefined) this.#tokens.delete(oldest);
  }
}

function entriesOf<T>(
  registered: Readonly<Record<string, T>> | ReadonlyMap<string, T>,
): Iterable<readonly [string, T]> {
  return registered instanceof Map ? registered.entries() : Object.entries(registered);
}
