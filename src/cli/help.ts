import { defaultMethods, grantTypes } from '../accounts/registration.ts';
import type { Option } from '../options/option.ts';
import { formatFlag, formatVariable, optionSpecs } from '../options/table.ts';
import { oauth1Methods } from '../signature/oauth1.ts';

/** The names of all commands. */
export const commands = [
  'serve',
  'sign',
  'attack',
  'user',
  'client',
  'consumer',
  'grant',
  'key',
  'check',
  'openapi',
  'backup',
  'restore',
  'export',
  'import',
  'schema',
  'completion',
] as const;
type Command = (typeof commands)[number];

/** Returns the text of `--help`, for one command or, if it is undefined, for the program. */
export function formatHelp(command: Command | undefined): string {
  return command === undefined ? overview() : texts[command]();
}

const overview = (): string => `Usage: countersign [COMMAND] [OPTIONS]

An HTTP server for XML and JSON resources that verifies signed requests.

Commands:
  serve                  start the server; the default command
  sign METHOD URL        print the header fields that sign a request
  attack URL             send a server what it must refuse, and report what it accepts
  user add|rotate|password|quota|schemes|remove|disable|enable|list
                         manage users
  user key add|remove|list
                         manage the keys of users
  client add|rotate|remove|list
                         manage OAuth 2.0 clients
  consumer add|rotate|remove|list
                         manage OAuth 1.0a consumers
  grant list|revoke      list and revoke what users have granted to clients and consumers
  key list|rotate        list and rotate the keys that sign tokens
  check                  check configuration and data, or repair a data directory
  openapi                print the OpenAPI document of the server
  backup DIR             copy the data directory, also while a server uses it
  restore DIR            copy a backup to the data directory
  export                 write all items as JSON lines
  import                 read an export into a data directory or store without items
  schema                 print the JSON Schema of the configuration file
  completion SHELL       print the completion script for bash, zsh or fish

Run "countersign COMMAND --help" for the options of a command.

  --help, -h             show help
  --version, -v          show the version

${optionLines('Options of serve')}
${sources}`;

const moduleLine = ['--module FILE', 'module whose store is used instead, if it has one'] as const;

const sourceLines: readonly (readonly [string, string])[] = [
  ['--data DIR', 'data directory (default: as for serve)'],
  ['--config FILE', 'configuration file: its data directory is used'],
];

const transferLines: readonly (readonly [string, string])[] = [
  ['--data DIR', 'data directory (default: as for serve)'],
  moduleLine,
  ['--config FILE', 'configuration file: its data directory and collections are used'],
];

const texts: Readonly<Record<Command, () => string>> = {
  serve: () => `Usage: countersign [serve] [OPTIONS]

Starts the server. Prints one line with its addresses on standard output when it is ready. SIGTERM or SIGINT
stops it.

${optionLines('Options')}
${sources}`,

  check: () => `Usage: countersign check [OPTIONS]
       countersign check --repair NEWDIR [OPTIONS]

Checks configuration and data. Prints all errors and exits with 1, or prints what serve would do and exits
with 0. Changes nothing. Can run while a server uses the data directory.

Options:
${lines([
  ['--repair NEWDIR', 'copy all readable data to NEWDIR and report what is lost'],
  ['all options of serve', 'the configuration to check; listed by "countersign serve --help"'],
])}`,

  openapi: () => `Usage: countersign openapi [OPTIONS]

Prints the OpenAPI 3.1 document of the server that these options describe, as GET /openapi.json with --openapi
returns it. Starts no server, and changes nothing.

Options:
${lines([['all options of serve', 'the configuration to describe; listed by "countersign serve --help"']])}`,

  backup: () => `Usage: countersign backup DIR [OPTIONS]

Copies the data directory to DIR, which must be new or empty, and verifies the copy. Can run while a server
uses the data directory: the copy has every change that was acknowledged before, without gaps. Items, tokens,
users, clients, consumers, keys and the certificate are copied, for the owner alone. Nonces are not copied: a
server that starts on the copy rejects full signed requests for one window. If the secrets are encrypted, keep
the file of --key-file separately.

Options:
${lines(sourceLines)}`,

  restore: () => `Usage: countersign restore DIR [--replace] [OPTIONS]

Copies the backup in DIR to the data directory, which must not exist or be empty, and verifies the copy before
anything is replaced. No server may use the data directory at the same time. If the command is interrupted, no
server starts on the data directory until it is repeated.

Options:
${lines([['--replace', 'replace the data in the data directory; other files in it stay'], ...sourceLines])}`,

  export: () => `Usage: countersign export [OPTIONS]

Writes all items of a data directory, or of the store of a module, as JSON lines, for "countersign import". No
server may use the data directory at the same time. Nonces and certificates are not exported.

Options:
${lines([
  ['--output FILE', 'file to create, mode 0600; - for standard output (default: -)'],
  ['--with-tokens', 'export OAuth grants and tokens, too; a token is stored as its SHA-256 digest'],
  ['--with-accounts', 'export users, clients, consumers and the OAuth 1.0a key, too, as they are stored'],
  ['--key-file FILE', 'file with the key of encrypted accounts; or COUNTERSIGN_KEY'],
  ...transferLines,
])}`,

  import: () => `Usage: countersign import [OPTIONS]

Reads an export into a data directory or the store of a module, without items. Ids, order, timestamps and
entity tags are preserved. Nothing is imported unless every line is valid and every item conforms to the
configured collections (of --config). Accounts that exist are not changed.

To edit an export, remove "storeId" from its first line, which changes all entity tags. An item requires
"collection", "id" and "value"; its other members are optional. Do not remove the last line.

Options:
${lines([
  ['--input FILE', 'file to read; - for standard input (default: -)'],
  ['--on-mismatch M', 'refuse or warn: items that break the declared rules (default: refuse)'],
  ['--key-file FILE', 'file with the key of encrypted accounts; or COUNTERSIGN_KEY'],
  ...transferLines,
])}`,

  schema: () => `Usage: countersign schema

Prints the JSON Schema (draft 2020-12) of the configuration file, by which editors complete and check it. Name
its file in the member "$schema" of the configuration. "countersign check" checks more.
`,

  completion: () => `Usage: countersign completion bash|zsh|fish

Prints the script with which a shell completes commands and options:
  bash   source <(countersign completion bash)
  zsh    source <(countersign completion zsh), after compinit
  fish   countersign completion fish | source
`,

  sign: () => `Usage: countersign sign METHOD URL --user NAME [OPTIONS]
       countersign sign METHOD URL --scheme NAME --config FILE [--user NAME] [OPTIONS]

Prints the header fields that sign a request, one per line, in the format of curl -H @-. Reads the secret from
COUNTERSIGN_SECRET or, if that is not set, from the first line of standard input. With --scheme, signs with a
scheme of the configuration file; a private key (PEM, PKCS #8) is read from the file that
COUNTERSIGN_PRIVATE_KEY_FILE names. If the scheme changes the query, the first line is the URL.

Options:
${lines([
  ['--user NAME', 'user who signs the request; required, unless --scheme determines it'],
  ['--scheme NAME', 'scheme of the configuration file (default: hmac)'],
  ['--config FILE', 'configuration file whose schemes are used'],
  ['--key-id ID', 'with --scheme: id of the key (default: the name of the user)'],
  ['--algorithm NAME', 'with --scheme: algorithm of an RSA key: rsa-pss-sha512, rsa-v1_5-sha256'],
  ['--presign SECONDS', 'with --scheme aws4: presigned URL that is valid this long'],
  ['--header LINE', 'with --scheme: field of the request, which the scheme may sign; repeatable'],
  ['--simple', 'simple form, without date and nonce; can be replayed'],
  ['--date DATE', 'date in UTC, such as "20 apr 2013 12:59:24" (default: now)'],
  ['--nonce NONCE', '1 to 128 characters of A-Z a-z 0-9 . _ ~ - (default: random)'],
  ['--content FILE', 'content whose digest to sign; - for standard input'],
  ['--curl', 'print a curl command instead'],
  ['--explain', 'print the signed message, part by part, on standard error'],
])}`,

  attack: () => `Usage: countersign attack URL [--scheme NAME] [--user NAME] [OPTIONS]

Sends a server one good request and, derived from it, those that a correct server must refuse. Prints a
report with the weaknesses, what each one permits and what to do. Exits with 0 if the server passes, else
with 1. Data of the server can be lost: use a server for tests. Reads the secret, password or token from
COUNTERSIGN_SECRET or, if that is not set, from the first line of standard input.

Options:
${lines([
  ['--user NAME', 'user who signs the requests; required, unless the scheme determines it'],
  ['--scheme NAME', 'hmac, basic, bearer, a preset such as stripe, or with --config'],
  ['', 'a scheme of the configuration file (default: hmac)'],
  ['--config FILE', 'configuration file whose schemes are used'],
  ['--key-id ID', 'with --config: id of the key (default: the name of the user)'],
  ['--algorithm NAME', 'with --config: algorithm of an RSA key: rsa-pss-sha512, rsa-v1_5-sha256'],
  ['--method METHOD', 'method of the good request (default: GET, with --content POST)'],
  ['--content FILE', 'content of the good request; - for standard input'],
  ['--header LINE', 'field of the good request; repeatable'],
  ['--other-user NAME', 'another user of the server'],
  ['--window TIME', 'how far the server accepts a date to differ, such as 5m (default: 10m)'],
  ['--open', 'the request is permitted without credentials'],
  ['--waive "ID=REASON"', 'a weakness that does not count, such as "future-date=reason"; repeatable'],
  ['--timeout TIME', 'time of each response (default: 10s)'],
])}`,

  user: () => `Usage: countersign user add NAME [--secret-stdin] [--quota COUNT/TIME[,…]]
                        [--schemes NAME[,NAME…]]
       countersign user rotate NAME [--grace TIME]
       countersign user password NAME [--password-stdin]
       countersign user quota NAME [--quota COUNT/TIME[,…]]
       countersign user schemes NAME [--schemes NAME[,NAME…]]
       countersign user remove|disable|enable NAME
       countersign user list
       countersign user key add NAME --key-id ID
                            --public-key FILE | --generate ALGORITHM | --secret-stdin
       countersign user key remove NAME --key-id ID
       countersign user key list NAME

Manages the users of a data directory, or of a module's store. A running server applies a change before the
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

Options:
${lines([
  ['--secret-stdin', 'add, key add: read the secret from the first line of standard input'],
  ['--key-id ID', 'key: id by which requests name the key; unique among all users'],
  ['--public-key FILE', 'key add: public key in PEM (SPKI) or JWK format'],
  ['--generate ALGORITHM', 'key add: generate a key, and print its private key or secret once'],
  ['--algorithm NAME', 'key add: algorithm, if the type of the key does not determine it'],
  ['--quota COUNT/TIME[,…]', 'add, quota: quota of the user, such as 1000/1h; none: no limit'],
  ['--schemes NAME[,NAME…]', 'add, schemes: schemes with which the user can authenticate (default: all)'],
  ['--password-stdin', 'password: read the password from the first line of standard input'],
  ['--grace TIME', 'time until the old secret expires: 90s, 15m, 24h, 7d or 0 (default: 24h)'],
  ...locationLines('users'),
])}`,

  client: () => `Usage: countersign client add [ID] [OPTIONS]
       countersign client rotate ID [--secret-stdin] [OPTIONS]
       countersign client remove ID [OPTIONS]
       countersign client list [OPTIONS]

Manages the OAuth 2.0 clients of a data directory, or of a module's store. A running server applies a change
before the command ends.
Removing a client revokes its tokens; rotating its secret does not. The old secret expires at once.
${secretSource}
Only a digest of it is stored.

Options of add:
${lines([
  ['--redirect-uri URI', 'redirect URI, compared exactly; repeatable'],
  ['--grant NAME', `${grantTypes.join(', ')}; repeatable`],
  ['', `(default: ${grantTypes.slice(0, 2).join(', ')})`],
  ['--scope NAME', 'read, write; repeatable (default: read)'],
  ['--users NAME', 'user whose resources client_credentials can access; * for all; repeatable'],
  ['--public', 'public client, without a secret'],
  stdinLine,
])}
Options:
${lines(locationLines('clients'))}`,

  key: () => `Usage: countersign key list [OPTIONS]
       countersign key rotate [OPTIONS]

Lists and rotates the keys that sign access tokens in the form of a JWT, and ID tokens. A server generates
the first one. After a rotation, a running server signs with the new key before the command ends, and the
former one verifies until its tokens are expired. The algorithm is "oauth2.signing" of the configuration
file.

Options:
${lines(locationLines('keys'))}`,

  consumer: () => `Usage: countersign consumer add [KEY] [OPTIONS]
       countersign consumer rotate KEY [--secret-stdin] [OPTIONS]
       countersign consumer remove KEY [OPTIONS]
       countersign consumer list [OPTIONS]

Manages the OAuth 1.0a consumers of a data directory, or of a module's store. A running server applies a
change before the command ends. Removing a consumer revokes its tokens; rotating its secret does not. The old
secret expires at once.
${secretSource}

Options of add:
${lines([
  ['--callback URI|oob', 'callback URI, compared exactly; oob: the user enters the verifier; repeatable'],
  ['--method NAME', `signature method; repeatable (default: ${defaultMethods.secret.join(', ')}`],
  ['', `; with --rsa-public-key ${defaultMethods.rsaPublicKey.join(', ')})`],
  ['', oauth1Methods.slice(0, 4).join(', ')],
  ['', oauth1Methods.slice(4).join(', ')],
  ['--scope NAME', 'read, write; repeatable (default: read)'],
  ['--users NAME', 'user whose resources it can access without a token; * for all; repeatable'],
  ['--plain-http', 'accept signed requests over plain HTTP, except for PLAINTEXT'],
  ['--rsa-public-key FILE', 'PEM file with the public key for the methods with RSA'],
  stdinLine,
])}
Options:
${lines(locationLines('consumers'))}`,

  grant: () => `Usage: countersign grant list [--user NAME] [--client ID] [OPTIONS]
       countersign grant revoke ID [OPTIONS]
       countersign grant revoke [--user NAME] [--client ID] [OPTIONS]

Lists the grants of a data directory, or of a module's store: what users have allowed to OAuth clients and
consumers. Revokes grants with all their tokens. A running server applies a revocation before the command
ends.

Options:
${lines([
  ['--user NAME', 'grants of this user'],
  ['--client ID', 'grants to this client or consumer; revoke: also its tokens without a grant'],
  ['--data DIR', 'data directory (default: as for serve)'],
  moduleLine,
  ['--config FILE', 'configuration file: its data directory is used'],
])}`,
};

const secretSource = `The secret is generated and printed once, or read
from standard input with --secret-stdin; the secret of another user, client or consumer is rejected.`;

const stdinLine = ['--secret-stdin', 'read the secret from the first line of standard input'] as const;

/** Returns the options that all account commands have. */
function locationLines(accounts: string): [string, string][] {
  return [
    ['--data DIR', 'data directory (default: as for serve)'],
    ['--module FILE', 'module whose documents are used instead, if its store has some'],
    ['--key-file FILE', 'file with the key that encrypts stored secrets; or COUNTERSIGN_KEY'],
    ['--config FILE', `configuration file: its data directory is used and its ${accounts} are listed`],
  ];
}

const sources = `Each option is also an environment variable (${formatVariable('hmacSimple')}) and a key of the configuration file
(hmacSimple). A flag takes precedence over a variable, a variable over the file. The file can also contain
users, clients, consumers, collections and seed.
`;

/** The groups of the options of the server: each begins with an option of the table. */
const groups = new Map<string, string>([
  ['host', 'Addresses and TLS'],
  ['data', 'Data'],
  ['partner', 'The OpenAPI document of a partner'],
  ['keyFile', 'Configuration and storage'],
  ['hmacSimple', 'Signatures, nonces and quotas'],
  ['trustProxy', 'Proxies and browsers'],
  ['codeLifetime', 'OAuth'],
  ['defaultFormat', 'Responses'],
  ['maxBody', 'Limits'],
  ['healthPath', 'Operation'],
]);

function optionLines(title: string): string {
  const sections: string[] = [];
  let listed: [string, string][] = [];
  const end = (): void => {
    if (listed.length > 0) sections.push(lines(listed));
    listed = [];
  };
  for (const [key, option] of optionSpecs) {
    const group = groups.get(key);
    if (group !== undefined) {
      end();
      sections.push(`\n${group}:\n`);
    }
    listed.push([formatUsage(key, option), formatDescription(option)]);
  }
  end();
  return `${title}:\n${sections.join('')}`;
}

function formatUsage(key: string, { value }: Option<unknown>): string {
  return value === undefined ? formatFlag(key) : `${formatFlag(key)} ${value}`;
}

function formatDescription({ about, value, fallback, byDefault }: Option<unknown>): string {
  const hasDefault = value !== undefined && fallback !== undefined && !Array.isArray(fallback);
  const shown = byDefault ?? (hasDefault ? fallback : undefined);
  return shown === undefined ? about : `${about} (default: ${shown})`;
}

/** Formats two columns. A left cell that is wider than its column gets its own line. */
function lines(pairs: readonly (readonly [string, string])[]): string {
  const width = 28;
  return pairs
    .map(([left, right]) => {
      const gap = left.length > width - 2 ? `\n${' '.repeat(width + 2)}` : ' '.repeat(width - left.length);
      return `  ${left}${gap}${right}\n`;
    })
    .join('');
}
