// All commands: their parsing, help and completion come from this table.

import { oauth1Methods } from '../accounts/oauth1-methods.ts';
import { defaultMethods, grantTypes } from '../accounts/registration.ts';
import { type Arguments, findArity, readArguments } from '../options/flags.ts';
import { CommandError } from './errors.ts';

/** An option of a command. */
export interface CommandFlag {
  /** The name, with its dashes. */
  readonly name: string;
  /** What its value is, for the help: `NAME`; undefined if it needs none. */
  readonly value?: string;
  readonly repeatable?: boolean;
  /** The description, without a full stop. Further lines are continued below. */
  readonly about: string;
  /** The actions that have it, such as `add`, `key add`, or `key` for all actions of `key`. Default: all. */
  readonly actions?: readonly string[];
}

/** A command. */
export interface CommandSpec {
  /** The usages, without the name of the program. */
  readonly usages: readonly string[];
  /** What it does, for the list of all commands: a usage of that list, and a description. */
  readonly listed: readonly (readonly [usage: string, about: string])[];
  /** What it does, in whole sentences. */
  readonly text: string;
  readonly flags: readonly CommandFlag[];
  /** What its one argument is, if it is a command on all data and has one: `one new directory`. */
  readonly argument?: string;
  /** Whether it has all options of `serve`, too. Its value describes what they are for. */
  readonly served?: string;
}

/** Creates an option. `usage` is its name and, if it needs one, what its value is. */
function flag(usage: string, about: string, ...actions: string[]): CommandFlag {
  const [name = '', ...value] = usage.split(' ');
  return {
    name,
    ...(value.length > 0 && { value: value.join(' ') }),
    about,
    ...(actions.length > 0 && { actions }),
  };
}

/** Creates an option that can be repeated. */
function repeated(usage: string, about: string, ...actions: string[]): CommandFlag {
  return { ...flag(usage, about, ...actions), repeatable: true };
}

const data = flag('--data DIR', 'data directory (default: as for serve)');
const storeModule = flag('--module FILE', 'module whose store is used instead, if it has one');
const dataConfig = flag('--config FILE', 'configuration file: its data directory is used');
const exportedKey = flag('--key-file FILE', 'file with the key of encrypted accounts; or COUNTERSIGN_KEY');
const collectionsConfig = flag(
  '--config FILE',
  'configuration file: its data directory and collections are used',
);
const schemesConfig = flag('--config FILE', 'configuration file whose schemes are used');
const secretInput = 'read the secret from the first line of standard input';

/** Returns the options that all account commands have. */
function locationFlags(accounts: string): readonly CommandFlag[] {
  return [
    data,
    flag('--module FILE', 'module whose documents are used instead, if its store has some'),
    flag('--key-file FILE', 'file with the key that encrypts stored secrets; or COUNTERSIGN_KEY'),
    flag('--config FILE', `configuration file: its data directory is used and its ${accounts} are listed`),
  ];
}

const secretSource = `The secret is generated and printed once, or read
from standard input with --secret-stdin; the secret of another user, client or consumer is rejected.`;

/** The commands by name, in the order of the help. */
export const commandTable = {
  serve: {
    usages: ['[serve] [OPTIONS]'],
    listed: [['serve', 'start the server; the default command']],
    text: `Starts the server. Prints one line with its addresses on standard output when it is ready. SIGTERM or SIGINT
stops it.`,
    flags: [],
  },
  sign: {
    usages: [
      'sign METHOD URL --user NAME [OPTIONS]',
      'sign METHOD URL --scheme NAME --config FILE [--user NAME] [OPTIONS]',
    ],
    listed: [['sign METHOD URL', 'print the header fields that sign a request']],
    text: `Prints the header fields that sign a request, one per line, in the format of curl -H @-. Reads the secret from
COUNTERSIGN_SECRET or, if that is not set, from the first line of standard input. With --scheme, signs with a
scheme of the configuration file; a private key (PEM, PKCS #8) is read from the file that
COUNTERSIGN_PRIVATE_KEY_FILE names. If the scheme changes the query, the first line is the URL.`,
    flags: [
      flag('--user NAME', 'user who signs the request; required, unless --scheme determines it'),
      flag('--scheme NAME', 'scheme of the configuration file (default: hmac)'),
      schemesConfig,
      flag('--key-id ID', 'with --scheme: id of the key (default: the name of the user)'),
      flag('--algorithm NAME', 'with --scheme: algorithm of an RSA key: rsa-pss-sha512, rsa-v1_5-sha256'),
      flag('--presign SECONDS', 'with --scheme aws4: presigned URL that is valid this long'),
      repeated('--header LINE', 'with --scheme: field of the request, which the scheme may sign'),
      flag('--simple', 'simple form, without date and nonce; can be replayed'),
      flag('--date DATE', 'date in UTC, such as "20 apr 2013 12:59:24" (default: now)'),
      flag('--nonce NONCE', '1 to 128 characters of A-Z a-z 0-9 . _ ~ - (default: random)'),
      flag('--content FILE', 'content whose digest to sign; - for standard input'),
      flag('--curl', 'print a curl command instead'),
      flag('--explain', 'print the signed message, part by part, on standard error'),
    ],
  },
  attack: {
    usages: ['attack URL [--scheme NAME] [--user NAME] [OPTIONS]'],
    listed: [['attack URL', 'send a server what it must refuse, and report what it accepts']],
    text: `Sends a server one good request and, derived from it, those that a correct server must refuse. Prints a
report with the weaknesses, what each one permits and what to do. Exits with 0 if the server passes, else
with 1. Data of the server can be lost: use a server for tests. Reads the secret, password or token from
COUNTERSIGN_SECRET or, if that is not set, from the first line of standard input.`,
    flags: [
      flag('--user NAME', 'user who signs the requests; required, unless the scheme determines it'),
      flag(
        '--scheme NAME',
        'hmac, basic, bearer, a preset such as stripe, or with --config\na scheme of the configuration file (default: hmac)',
      ),
      schemesConfig,
      flag('--key-id ID', 'with --config: id of the key (default: the name of the user)'),
      flag('--algorithm NAME', 'with --config: algorithm of an RSA key: rsa-pss-sha512, rsa-v1_5-sha256'),
      flag('--method METHOD', 'method of the good request (default: GET, with --content POST)'),
      flag('--content FILE', 'content of the good request; - for standard input'),
      repeated('--header LINE', 'field of the good request'),
      flag('--other-user NAME', 'another user of the server'),
      flag('--window TIME', 'how far the server accepts a date to differ, such as 5m (default: 10m)'),
      flag('--open', 'the request is permitted without credentials'),
      repeated('--waive "ID=REASON"', 'a weakness that does not count, such as "future-date=reason"'),
      flag('--timeout TIME', 'time of each response (default: 10s)'),
    ],
  },
  user: {
    usages: [
      'user add NAME [--secret-stdin] [--quota COUNT/TIME[,…]]\n                 [--schemes NAME[,NAME…]]',
      'user rotate NAME [--grace TIME]',
      'user password NAME [--password-stdin]',
      'user quota NAME [--quota COUNT/TIME[,…]]',
      'user schemes NAME [--schemes NAME[,NAME…]]',
      'user remove|disable|enable NAME',
      'user list',
      'user key add NAME --key-id ID\n                     --public-key FILE | --generate ALGORITHM | --secret-stdin',
      'user key remove NAME --key-id ID',
      'user key list NAME',
      'user role add|remove NAME --role ROLE',
      'user role list NAME',
    ],
    listed: [
      ['user add|rotate|password|quota|schemes|remove|disable|enable|list', 'manage users'],
      ['user key add|remove|list', 'manage the keys of users'],
      ['user role add|remove|list', 'manage the roles of users'],
    ],
    text: `Manages the users of a data directory, or of a module's store. A running server applies a change before the
command ends.

  add                         generates a password and a secret and prints them once
  rotate                      generates a new secret and prints it once; the old one expires after --grace
  password                    generates a new password and prints it once; the old one expires at once
  quota                       sets the quota of the user; without --quota, that of the server applies
  schemes                     limits the user to schemes; without --schemes, all can be used
  disable                     rejects the user's requests; password and secret are kept for enable
  key                         manages the keys of a user; each key determines its algorithm:
                              ed25519, ecdsa-p256-sha256, ecdsa-p384-sha384, rsa-pss-sha512,
                              rsa-v1_5-sha256, or with a shared secret hmac-sha256 and aws4
  role                        manages the roles of a user, which access rules name as role:ROLE`,
    flags: [
      flag('--secret-stdin', secretInput, 'add', 'key add'),
      flag('--role ROLE', 'name of the role', 'role add', 'role remove'),
      flag('--key-id ID', 'id by which requests name the key; unique among all users', 'key'),
      flag('--public-key FILE', 'public key in PEM (SPKI) or JWK format', 'key add'),
      flag('--generate ALGORITHM', 'generate a key, and print its private key or secret once', 'key add'),
      flag('--algorithm NAME', 'algorithm, if the type of the key does not determine it', 'key'),
      flag('--quota COUNT/TIME[,…]', 'quota of the user, such as 1000/1h; none: no limit', 'add', 'quota'),
      flag(
        '--schemes NAME[,NAME…]',
        'schemes with which the user can authenticate (default: all)',
        'add',
        'schemes',
      ),
      flag('--password-stdin', 'read the password from the first line of standard input', 'password'),
      flag(
        '--grace TIME',
        'time until the old secret expires: 90s, 15m, 24h, 7d or 0 (default: 24h)',
        'rotate',
      ),
      ...locationFlags('users'),
    ],
  },
  client: {
    usages: [
      'client add [ID] [OPTIONS]',
      'client rotate ID [--secret-stdin] [OPTIONS]',
      'client remove ID [OPTIONS]',
      'client list [OPTIONS]',
    ],
    listed: [['client add|rotate|remove|list', 'manage OAuth 2.0 clients']],
    text: `Manages the OAuth 2.0 clients of a data directory, or of a module's store. A running server applies a change
before the command ends.
Removing a client revokes its tokens; rotating its secret does not. The old secret expires at once.
${secretSource}
Only a digest of it is stored.`,
    flags: [
      repeated('--redirect-uri URI', 'redirect URI, compared exactly', 'add'),
      repeated(
        '--grant NAME',
        `${grantTypes.join(', ')}\n(default: ${grantTypes.slice(0, 2).join(', ')})`,
        'add',
      ),
      repeated(
        '--scope NAME',
        `read, write, or another scope that the server has: of
oauth2.scopes or of the document of a partner (default: read)`,
        'add',
      ),
      repeated('--users NAME', 'user whose resources client_credentials can access; * for all', 'add'),
      flag('--public', 'public client, without a secret', 'add'),
      flag('--public-key FILE', 'file with the key (PEM, JWK, JWKS) of a client without a secret', 'add'),
      flag('--secret-stdin', secretInput, 'add', 'rotate'),
      ...locationFlags('clients'),
    ],
  },
  consumer: {
    usages: [
      'consumer add [KEY] [OPTIONS]',
      'consumer rotate KEY [--secret-stdin] [OPTIONS]',
      'consumer remove KEY [OPTIONS]',
      'consumer list [OPTIONS]',
    ],
    listed: [['consumer add|rotate|remove|list', 'manage OAuth 1.0a consumers']],
    text: `Manages the OAuth 1.0a consumers of a data directory, or of a module's store. A running server applies a
change before the command ends. Removing a consumer revokes its tokens; rotating its secret does not. The old
secret expires at once.
${secretSource}`,
    flags: [
      repeated('--callback URI|oob', 'callback URI, compared exactly; oob: users enter the verifier', 'add'),
      repeated(
        '--method NAME',
        `signature method
default: ${defaultMethods.secret.join(', ')};
with --rsa-public-key ${defaultMethods.rsaPublicKey.join(', ')}
${oauth1Methods.slice(0, 4).join(', ')}
${oauth1Methods.slice(4).join(', ')}`,
        'add',
      ),
      repeated('--scope NAME', 'read, write (default: read)', 'add'),
      repeated('--users NAME', 'user whose resources it can access without a token; * for all', 'add'),
      flag('--plain-http', 'accept signed requests over plain HTTP, except for PLAINTEXT', 'add'),
      flag('--rsa-public-key FILE', 'PEM file with the public key for the methods with RSA', 'add'),
      flag('--secret-stdin', secretInput, 'add', 'rotate'),
      ...locationFlags('consumers'),
    ],
  },
  grant: {
    usages: [
      'grant list [--user NAME] [--client ID] [OPTIONS]',
      'grant revoke ID [OPTIONS]',
      'grant revoke [--user NAME] [--client ID] [OPTIONS]',
    ],
    listed: [['grant list|revoke', 'list and revoke what users have granted to clients and consumers']],
    text: `Lists the grants of a data directory, or of a module's store: what users have allowed to OAuth clients and
consumers. Revokes grants with all their tokens. A running server applies a revocation before the command
ends.`,
    flags: [
      flag('--user NAME', 'grants of this user'),
      flag('--client ID', 'grants to this client or consumer; revoke: also its tokens without a grant'),
      data,
      storeModule,
      dataConfig,
    ],
  },
  key: {
    usages: ['key list [OPTIONS]', 'key rotate [OPTIONS]'],
    listed: [['key list|rotate', 'list and rotate the keys that sign tokens']],
    text: `Lists and rotates the keys that sign access tokens in the form of a JWT, and ID tokens. A server generates
the first one. After a rotation, a running server signs with the new key before the command ends, and the
former one verifies until its tokens are expired. The algorithm is "oauth2.signing" of the configuration
file.`,
    flags: locationFlags('keys'),
  },
  check: {
    usages: ['check [OPTIONS]', 'check --repair NEWDIR [OPTIONS]'],
    listed: [['check', 'check configuration and data, or repair a data directory']],
    text: `Checks configuration and data. Prints all errors and exits with 1, or prints what serve would do and exits
with 0. Changes nothing. Can run while a server uses the data directory.`,
    flags: [flag('--repair NEWDIR', 'copy all readable data to NEWDIR and report what is lost')],
    served: 'the configuration to check',
  },
  openapi: {
    usages: ['openapi [OPTIONS]'],
    listed: [['openapi', 'print the OpenAPI document of the server']],
    text: `Prints the OpenAPI 3.1 document of the server that these options describe, as GET /openapi.json with --openapi
returns it. Starts no server, and changes nothing.`,
    flags: [],
    served: 'the configuration to describe',
  },
  backup: {
    usages: ['backup DIR [OPTIONS]'],
    listed: [['backup DIR', 'copy the data directory, also while a server uses it']],
    text: `Copies the data directory to DIR, which must be new or empty, and verifies the copy. Can run while a server
uses the data directory: the copy has every change that was acknowledged before, without gaps. Items, tokens,
users, clients, consumers, keys and the certificate are copied, for the owner alone. Nonces are not copied: a
server that starts on the copy rejects full signed requests for one window. If the secrets are encrypted, keep
the file of --key-file separately.`,
    argument: 'one new directory',
    flags: [data, dataConfig],
  },
  restore: {
    usages: ['restore DIR [--replace] [OPTIONS]'],
    listed: [['restore DIR', 'copy a backup to the data directory']],
    text: `Copies the backup in DIR to the data directory, which must not exist or be empty, and verifies the copy before
anything is replaced. No server may use the data directory at the same time. If the command is interrupted, no
server starts on the data directory until it is repeated.`,
    argument: 'the directory of a backup',
    flags: [
      flag('--replace', 'replace the data in the data directory; other files in it stay'),
      data,
      dataConfig,
    ],
  },
  export: {
    usages: ['export [OPTIONS]'],
    listed: [['export', 'write all items as JSON lines']],
    text: `Writes all items of a data directory, or of the store of a module, as JSON lines, for "countersign import". No
server may use the data directory at the same time. Nonces and certificates are not exported.`,
    flags: [
      flag('--output FILE', 'file to create, mode 0600; - for standard output (default: -)'),
      flag('--with-tokens', 'export OAuth grants and tokens, too; a token is stored as its SHA-256 digest'),
      flag(
        '--with-accounts',
        'export users, clients, consumers and the OAuth 1.0a key, too, as they are stored',
      ),
      exportedKey,
      data,
      storeModule,
      collectionsConfig,
    ],
  },
  import: {
    usages: ['import [OPTIONS]'],
    listed: [['import', 'read an export into a data directory or store without items']],
    text: `Reads an export into a data directory or the store of a module, without items. Ids, order, timestamps and
entity tags are preserved. Nothing is imported unless every line is valid and every item conforms to the
configured collections (of --config). Accounts that exist are not changed.

To edit an export, remove "storeId" from its first line, which changes all entity tags. An item requires
"collection", "id" and "value"; its other members are optional. Do not remove the last line.`,
    flags: [
      flag('--input FILE', 'file to read; - for standard input (default: -)'),
      flag('--on-mismatch refuse|warn', 'items that break the declared rules (default: refuse)'),
      exportedKey,
      data,
      storeModule,
      collectionsConfig,
    ],
  },
  schema: {
    usages: ['schema'],
    listed: [['schema', 'print the JSON Schema of the configuration file']],
    text: `Prints the JSON Schema (draft 2020-12) of the configuration file, by which editors complete and check it. Name
its file in the member "$schema" of the configuration. "countersign check" checks more.`,
    flags: [],
  },
  completion: {
    usages: ['completion bash|zsh|fish'],
    listed: [['completion bash|zsh|fish', 'print the completion script of a shell']],
    text: `Prints the script with which a shell completes commands and options:
  bash   source <(countersign completion bash)
  zsh    source <(countersign completion zsh), after compinit
  fish   countersign completion fish | source`,
    flags: [],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;

/** The commands by name. */
export const commandSpecs: ReadonlyMap<string, CommandSpec> = new Map(Object.entries(commandTable));

/** Parses the arguments of a command. Its unknown, repeated and incomplete options are in `faults`. */
export function parseCommandLine({ flags }: Pick<CommandSpec, 'flags'>, argv: readonly string[]): Arguments {
  return readArguments(argv, new Map(flags.map((flag) => [flag.name, findArity(flag)])));
}

/** Parses the arguments of a command. Throws CommandError with its unknown, repeated and incomplete options. */
export function readCommandLine(spec: Pick<CommandSpec, 'flags'>, argv: readonly string[]): Arguments {
  const read = parseCommandLine(spec, argv);
  if (read.faults.length > 0) throw new CommandError(read.faults);
  return read;
}

/** Returns the options of `user`, `user key` or `user role`, with the actions as that command names them. */
export function listUserFlags(command: 'user' | 'user key' | 'user role'): readonly CommandFlag[] {
  const all: readonly CommandFlag[] = commandTable.user.flags;
  const group = command.slice('user '.length);
  return all.flatMap(({ actions, ...flag }) => {
    if (actions === undefined) return [flag];
    const own = actions.filter((action) => groupOf(action) === group);
    if (own.length === 0) return [];
    const isOfAll = group !== '' && own.includes(group);
    return [isOfAll ? flag : { ...flag, actions: own.map((action) => action.slice(group.length).trim()) }];
  });
}

/** Returns the word before an action of `user`: `key`, `role`, or none. */
function groupOf(action: string): string {
  return ['key', 'role'].find((group) => action === group || action.startsWith(`${group} `)) ?? '';
}
