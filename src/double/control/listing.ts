import { toAccountRecord } from '../../auth/user-declaration.ts';
import { type Grants, isLive } from '../../oauth/grants.ts';
import { type Core, listNames } from '../compose.ts';
import { createDataListing, type DataListing } from './data-listing.ts';

/** Lists what the controlled service knows, without secrets and without the values of tokens. */
interface Listing extends AccountListing, DataListing {}

/** Creates the listing of a service. */
export function createListing(context: Core): Listing {
  return {
    ...createAccountListing(context),
    ...createDataListing(context.data),
  };
}

/** A user, without secrets. */
interface ListedUser {
  readonly name: string;
  readonly disabled: boolean;
  readonly password: boolean;
  /** The secrets, newest first. `until` is the end of a former one (ms). */
  readonly secrets: readonly { readonly until?: number }[];
  readonly keys: readonly { readonly id: string; readonly algorithm: string; readonly until?: number }[];
}

/** A token. Its fingerprint is the SHA-256 of its value, in base64url. */
interface ListedToken {
  readonly fingerprint: string;
  readonly mechanism: string;
  readonly kind: string;
  readonly client: string;
  readonly user?: string;
  readonly scopes: readonly string[];
  readonly issued: number;
  readonly expires: number;
  /** Whether it can be used: neither used up nor expired, and its grant is neither revoked nor ended. */
  readonly live: boolean;
  readonly used: boolean;
  readonly grant?: { readonly id: string; readonly ends: number; readonly revoked: boolean };
}

/** Lists users, clients, consumers and tokens. */
interface AccountListing {
  users(): readonly ListedUser[];
  clients(): readonly object[];
  consumers(): readonly object[];
  /** Returns all stored tokens, oldest first, but at most the latest `limit`. */
  tokens(limit: number): Promise<readonly ListedToken[]>;
}

/** Creates the listing of accounts. */
function createAccountListing(context: Core): AccountListing {
  const { clients, consumers, grants } = context.service.oauth;
  return {
    users: () => [...context.users.all].map(([name, user]) => toListedUser(name, toAccountRecord(user))),
    clients: () =>
      [...listNames(context.options.clients)].flatMap((id) => {
        const client = clients.find(id);
        if (client === undefined) return [];
        const { secret, since: _, ...shown } = client;
        return [{ ...shown, confidential: secret !== undefined }];
      }),
    consumers: () =>
      [...listNames(context.options.consumers)].flatMap((key) => {
        const consumer = consumers.find(key);
        if (consumer === undefined) return [];
        const { secret, rsaPublicKey, since: _, ...shown } = consumer;
        return [{ ...shown, secret: secret !== undefined, rsa: rsaPublicKey !== undefined }];
      }),
    tokens: (limit) => listTokens(grants, limit, context.time.clock.now()),
  };
}

function toListedUser(
  name: string,
  { disabled = false, password, secrets, keys = {} }: ReturnType<typeof toAccountRecord>,
): ListedUser {
  return {
    name,
    disabled,
    password: password !== undefined,
    secrets: secrets.map(({ until }) => (until === undefined ? {} : { until })),
    keys: Object.entries(keys).map(([id, { algorithm, until }]) => ({
      id,
      algorithm,
      ...(until !== undefined && { until }),
    })),
  };
}

async function listTokens(grants: Grants, limit: number, now: number): Promise<ListedToken[]> {
  const listed: ListedToken[] = [];
  for await (const found of grants.all()) {
    const { digest, user, details: _, grant: __, ...token } = found.token;
    listed.push({
      ...token,
      fingerprint: digest,
      live: isLive(found, now),
      ...(user !== undefined && { user }),
      ...(found.grant !== undefined && { grant: toGrant(found.grant) }),
    });
    if (listed.length > limit) listed.shift();
  }
  return listed;
}

function toGrant({ id, ends, revoked }: { id: string; ends: number; revoked: boolean }) {
  return { id, ends, revoked };
}
