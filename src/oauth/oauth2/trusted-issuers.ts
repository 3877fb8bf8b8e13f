import type { Accounts } from '../../accounts/accounts.ts';
import { userNameFault } from '../../accounts/user-name.ts';
import type { Clock } from '../../clock.ts';
import { nearestUriDifference } from '../../http/uri-difference.ts';
import type { Principal } from '../../principal.ts';
import { boundKey, looksLikeJwt, type ParsedJwt } from '../../schemes/jwt/jwt.ts';
import { type KeySet, readKeySet } from '../../schemes/jwt/key-set.ts';
import {
  findJwtFault,
  findSignatureFault,
  isJwtFault,
  type JwtFault,
  quote,
  readJwt,
} from '../../schemes/jwt/verify.ts';
import type { IssuerDeclaration } from '../oauth2-options.ts';

/** Verifies the access tokens of other issuers. Its code is loaded only if some are trusted. */
export interface TrustedIssuers {
  /**
   * Returns the principal of a token, or why it is refused; undefined if it is no JWT.
   * @param own the issuer whose tokens are verified elsewhere, if there is one: undefined is returned for them too
   */
  verify(token: string, own?: string): Promise<Principal | JwtFault | undefined>;
}

/** Fetches a document of JSON. Rejects with an Error that says why it cannot. */
type FetchJson = (url: string) => Promise<unknown>;

/** The dependencies of the verification. */
export interface TrustedIssuersOptions {
  readonly clock: Clock;
  readonly fetchJson: FetchJson;
  readonly accounts: Accounts;
  /** What has the clock of which hints speak. */
  readonly here: string;
  /** Returns whether a user of this name is registered, disabled or not. */
  readonly isRegistered: (user: string) => boolean;
}

/** Creates the verification of the tokens of these issuers. */
export function createTrustedIssuers(
  declared: Readonly<Record<string, IssuerDeclaration>>,
  { clock, fetchJson, accounts, here, isRegistered }: TrustedIssuersOptions,
): TrustedIssuers {
  const issuers = new Map(
    Object.entries(declared).map(([issuer, declaration]) => [
      issuer,
      { issuer, declaration, keys: new IssuerKeys(declaration.jwks, clock, fetchJson) },
    ]),
  );
  return {
    async verify(token, own) {
      if (!looksLikeJwt(token)) return undefined;
      const jwt = readJwt(token);
      if (isJwtFault(jwt)) return jwt;
      const { iss } = jwt.claims;
      if (iss === own && own !== undefined) return undefined;
      const known = typeof iss === 'string' ? issuers.get(iss) : undefined;
      if (known === undefined) return untrusted(iss, [own, ...issuers.keys()]);
      const { issuer, declaration, keys } = known;
      const fault =
        findJwtFault(jwt, { issuer, here, ...rulesOf(declaration) }, clock.now()) ??
        (await keys.findFault(jwt));
      if (fault !== undefined) return fault;
      const principal = principalOf(jwt, issuer, declaration);
      if (isJwtFault(principal) || !isRegistered(principal.name)) return principal;
      if ((await accounts.find(principal.name)) !== undefined) return principal;
      return { check: 'user', hint: 'the user of the token is disabled here' };
    },
  };
}

function untrusted(iss: unknown, trusted: readonly (string | undefined)[]): JwtFault {
  const known = trusted.filter((each) => each !== undefined).join(', ');
  return {
    check: 'iss',
    hint: `the issuer is ${quote(iss)}, which is not trusted here; trusted: ${known}${nearestUriDifference(String(iss), trusted.map(String))}`,
  };
}

function rulesOf({ audience, type = 'at+jwt', user = 'sub' }: IssuerDeclaration) {
  const audiences = typeof audience === 'string' ? [audience] : audience;
  return { audiences, types: type === 'JWT' ? ['JWT', 'at+jwt'] : [type], required: [user] };
}

/** Returns who sends a verified token. */
function principalOf(
  { claims }: ParsedJwt,
  issuer: string,
  { user = 'sub', scopes = 'scope', roles }: IssuerDeclaration,
): Principal | JwtFault {
  const name = claims[user];
  const fault = typeof name === 'string' ? userNameFault(name) : 'it is not text';
  if (typeof name !== 'string' || fault !== undefined)
    return {
      check: user,
      hint: `the claim ${user} is ${quote(name)}, which is not the name of a user: ${fault}`,
    };
  const client = [claims['client_id'], claims['azp'], issuer].find((each) => typeof each === 'string');
  const key = boundKey(claims);
  const rights = { client: client ?? issuer, scopes: readWords(readClaim(claims, scopes)), users: undefined };
  const lent = key === undefined ? rights : { ...rights, key };
  const principal = { name, scheme: 'bearer', lent };
  return roles === undefined ? principal : { ...principal, roles: readWords(readClaim(claims, roles)) };
}

/**
 * Returns the claim of this name, or the member at a path of names that are separated by dots: `realm_access.roles`. Names themselves
 * may contain dots, so each of them is tried as the end of the first name.
 */
function readClaim(claims: object, name: string): unknown {
  const members = new Map<string, unknown>(Object.entries(claims));
  if (members.has(name)) return members.get(name);
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    const inner = members.get(name.slice(0, dot));
    const found =
      typeof inner === 'object' && inner !== null ? readClaim(inner, name.slice(dot + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the words of a claim: those of a text, or the texts of an array. */
function readWords(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(' ').filter((word) => word !== '');
  return Array.isArray(value) ? value.filter((word) => typeof word === 'string') : [];
}

/** How long (ms) no other attempt to fetch keys follows one: a token with an unknown `kid` costs its sender nothing. */
const pause = 60_000;
/** The age (ms) from which keys are fetched again while the known ones verify, so that a withdrawn one is noticed. */
const maxAge = 600_000;

/** The keys of one issuer. They are fetched for the first token, and again for a key that is not known. */
class IssuerKeys {
  readonly #url: string | undefined;
  readonly #clock: Clock;
  readonly #fetchJson: FetchJson;
  #keys: KeySet | undefined;
  #fetched = Number.NEGATIVE_INFINITY;
  #attempted = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;
  /** Why the last attempt failed. */
  #failure: string | undefined;
  /** The ids of keys that were published before. */
  readonly #withdrawn = new Set<string>();

  constructor(jwks: IssuerDeclaration['jwks'], clock: Clock, fetchJson: FetchJson) {
    this.#url = typeof jwks === 'string' ? jwks : undefined;
    this.#keys = typeof jwks === 'string' ? undefined : readKeySet(jwks);
    this.#clock = clock;
    this.#fetchJson = fetchJson;
  }

  /** Returns why no key of the issuer signed a token; undefined if one did. */
  async findFault(jwt: ParsedJwt): Promise<JwtFault | undefined> {
    const kid = typeof jwt.header['kid'] === 'string' ? jwt.header['kid'] : undefined;
    let keys = this.#keys?.find(kid) ?? [];
    if (keys.length === 0) {
      await this.#fetch();
      keys = this.#keys?.find(kid) ?? [];
    } else if (this.#clock.now() - this.#fetched >= maxAge) void this.#fetch();
    return keys.length === 0 ? this.#describeMissing(kid) : findSignatureFault(jwt, keys);
  }

  #describeMissing(kid: string | undefined): JwtFault {
    const check = 'kid';
    if (this.#keys === undefined || this.#failure !== undefined)
      return { check, hint: `the keys of the issuer could not be fetched: ${this.#failure ?? 'not yet'}` };
    if (kid !== undefined && this.#withdrawn.has(kid))
      return { check, hint: 'the token is signed by a key that the issuer no longer publishes' };
    return {
      check,
      hint: `the issuer publishes no key ${quote(kid ?? 'without a kid')} that can verify a signature; published: ${this.#keys.ids.slice(0, 5).map(quote).join(', ') || 'none'}`,
    };
  }

  /** Fetches the keys, unless that was tried within the last minute. Never rejects. */
  #fetch(): Promise<void> {
    const url = this.#url;
    if (this.#fetching !== undefined) return this.#fetching;
    if (url === undefined || this.#clock.now() - this.#attempted < pause) return Promise.resolve();
    this.#attempted = this.#clock.now();
    this.#fetching = this.#replace(url).finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #replace(url: string): Promise<void> {
    try {
      const keys = readKeySet(await this.#fetchJson(url));
      if (keys === undefined) throw new Error('the response is not a set of keys (RFC 7517)');
      for (const id of this.#keys?.ids ?? []) if (this.#withdrawn.size < 100) this.#withdrawn.add(id);
      for (const id of keys.ids) this.#withdrawn.delete(id);
      this.#keys = keys;
      this.#fetched = this.#clock.now();
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
    }
  }
}
