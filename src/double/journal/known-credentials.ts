import { listRegistered } from '../../accounts/registered.ts';
import { createTokenSecrets } from '../../oauth/oauth1/secrets.ts';
import type { KnownSecret, TraceKnowledge } from '../../schemes/trace.ts';
import type {
  ClientDeclaration,
  ConsumerDeclaration,
  ServiceOptions,
  UserDeclaration,
} from '../../service/options.ts';
import { listSecrets } from '../../service/user-checks.ts';

/** The maximum number of remembered tokens. The oldest are forgotten first. */
const maxTokens = 100_000;
/** The length in bytes of the random values that become tokens, codes, tickets and verifiers. */
const tokenBytes = 32;

/**
 * The credentials that a double ever had, for redaction: also former secrets, and those of timelines that a restore ended.
 * Names are public, so a secret that equals one is not included.
 */
export class KnownCredentials {
  readonly #names = new Set<string>();
  readonly #secrets = new Set<string>();
  #unnamed: readonly string[] | undefined;
  readonly #tokens = new Set<string>();
  /** Secrets with their owners, by owner and secret. */
  readonly #owned = new Map<string, KnownSecret>();
  #ownedList: readonly KnownSecret[] | undefined;
  #userNames: readonly string[] = [];
  #keyIds: readonly string[] = [];
  readonly #hosts = new Set<string>();
  /** Issued values whose token secrets of OAuth 1.0a were not derived yet. */
  #underived: string[] = [];
  readonly #tokenSecrets: ReturnType<typeof createTokenSecrets>;

  /** @param masterKey the key from which token secrets are derived */
  constructor(masterKey: Uint8Array) {
    this.#tokenSecrets = createTokenSecrets(masterKey);
  }

  /** All secrets and passwords that do not equal a name: the same array until users, clients or consumers are added. */
  get secrets(): readonly string[] {
    this.#unnamed ??= [...this.#secrets].filter((secret) => !this.#names.has(secret));
    return this.#unnamed;
  }

  /** Returns the names of all users, clients and consumers, former ones too. */
  names(): readonly string[] {
    return [...this.#names];
  }

  /** Returns what explanations need: the users that exist with their keys, and all secrets, former ones too. */
  knowledge(): Pick<TraceKnowledge, 'userNames' | 'keyIds' | 'secrets' | 'hosts'> {
    // The same array until users, clients or consumers are added.
    this.#ownedList ??= [...this.#owned.values()];
    return {
      userNames: this.#userNames,
      keyIds: this.#keyIds,
      secrets: this.#ownedList,
      hosts: [...this.#hosts],
    };
  }

  /** Returns whether a text is a token, a code, a ticket, a verifier or a token secret that was issued. */
  isToken(text: string): boolean {
    for (const token of this.#underived.splice(0))
      for (const kind of ['request', 'access'] as const) this.#remember(this.#tokenSecrets(kind, token));
    return this.#tokens.has(text);
  }

  /** Remembers users with their secrets and passwords. */
  addUsers(users: ReadonlyMap<string, UserDeclaration>): void {
    this.#unnamed = undefined;
    this.#userNames = [...users.keys()];
    this.#keyIds = [...users.values()].flatMap(({ keys = {} }) => Object.keys(keys));
    this.#endAll('user');
    for (const [name, user] of users) {
      this.#names.add(name);
      const secrets = listSecrets(user);
      for (const [at, secret] of secrets.entries()) {
        this.#secrets.add(secret);
        // The password comes last. One that equals a secret counts as a secret.
        const isPassword = at === secrets.length - 1 && secret === findPassword(user);
        if (secrets.indexOf(secret) === at) this.#own('user', name, secret, isPassword);
      }
    }
  }

  /** Remembers private keys in PEM, which are secrets of nobody: nothing is verified with them. */
  addPrivateKeys(keys: readonly string[]): void {
    this.#unnamed = undefined;
    for (const key of keys) this.#secrets.add(key);
  }

  /** Remembers clients and consumers with their secrets, and the public host. */
  addRegistered({
    clients,
    consumers,
    publicUrl,
  }: Pick<ServiceOptions, 'clients' | 'consumers' | 'publicUrl'>): void {
    if (publicUrl !== undefined && URL.canParse(publicUrl)) this.#hosts.add(new URL(publicUrl).host);
    if (clients !== undefined) this.#addOwners('client', listRegistered<ClientDeclaration>(clients));
    if (consumers !== undefined) this.#addOwners('consumer', listRegistered<ConsumerDeclaration>(consumers));
  }

  /** Returns a source of random bytes whose values are remembered where they can become tokens. */
  remembering(random: (size: number) => Uint8Array): (size: number) => Uint8Array {
    return (size) => {
      const bytes = random(size);
      if (size === tokenBytes) this.#issue(Buffer.from(bytes).toString('base64url'));
      return bytes;
    };
  }

  #addOwners(
    owner: KnownSecret['owner'],
    registered: Iterable<readonly [string, ClientDeclaration | ConsumerDeclaration]>,
  ): void {
    this.#unnamed = undefined;
    this.#endAll(owner);
    for (const [name, { secret }] of registered) {
      this.#names.add(name);
      if (typeof secret !== 'string') continue;
      this.#secrets.add(secret);
      this.#own(owner, name, secret, false);
    }
  }

  /** Marks all secrets of these owners as former ones. */
  #endAll(owner: KnownSecret['owner']): void {
    this.#ownedList = undefined;
    for (const [key, known] of this.#owned)
      if (known.owner === owner) this.#owned.set(key, { ...known, current: false });
  }

  /** Remembers a current secret as the newest one. */
  #own(owner: KnownSecret['owner'], name: string, secret: string, isPassword: boolean): void {
    const key = JSON.stringify([owner, name, secret]);
    this.#owned.delete(key);
    this.#owned.set(key, { owner, name, secret, isPassword, current: true });
  }

  #issue(value: string): void {
    this.#remember(value);
    this.#underived.push(value);
    if (this.#underived.length > maxTokens) this.#underived = this.#underived.slice(-maxTokens / 2);
  }

  #remember(value: string): void {
    this.#tokens.add(value);
    if (this.#tokens.size <= maxTokens) return;
    const [oldest] = this.#tokens;
    if (oldest !== undefined) this.#tokens.delete(oldest);
  }
}

/** Returns the password of a user; undefined if there is none, or if only its hash is known. */
function findPassword({ password }: UserDeclaration): string | undefined {
  if (password === undefined || typeof password === 'string') return password;
  return 'plain' in password ? password.plain : undefined;
}
