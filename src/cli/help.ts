import { grantTypes, signatureMethods } from '../accounts/registration.ts';
import { flagOf, type OptionSpec, optionSpecs, variableOf } from '../options/table.ts';

/** The commands that there are. */
export const commands = ['serve', 'sign', 'user', 'client', 'consumer', 'check', 'export', 'import'] as const;
export type Command = (typeof commands)[number];

/** What `--help` prints: for one command, or for the whole. */
export function helpOf(command: Command | undefined): string {
  return command === undefined ? overview() : texts[command]();
}

const overview = (): string => `Usage: countersign [COMMAND] [OPTIONS]

A resource server over HTTP: XML and JSON resources, signed requests.

Commands:
  serve                  run the server (also when no command is given)
  sign METHOD URL        print the header fields that sign a request
  user add|rotate|remove|disable|enable|list
                         keep the users of a data directory
  client add|remove|list
                         keep its clients of OAuth 2.0
  consumer add|remove|list
                         keep its consumers of OAuth 1.0a
  check                  say what is wrong, or what a start would do; repair a data directory
  export                 write all items of a data directory as JSON lines
  import                 read them into a data directory that has no items

  --help, -h             this text; after a command, what is known of it
  --version              the version

${optionLines('Options of serve')}
${elsewhere}`;

const transferLines: readonly (readonly [string, string])[] = [
  ['--data DIR', "the data directory (default: the server's)"],
  ['--config FILE', 'a configuration file, for its data directory and its collections'],
];

const texts: Readonly<Record<Command, () => string>> = {
  serve: () => `Usage: countersign [serve] [OPTIONS]

Runs the server until it is told to stop (SIGTERM, SIGINT). One line on standard output says when it is ready.

${optionLines('Options')}
${elsewhere}`,

  check: () => `Usage: countersign check [OPTIONS]
       countersign check --repair NEWDIR [OPTIONS]

Reads configuration and data as serve would with the same options. Says what is wrong and exits with 1, or
says what a start would do and exits with 0. Changes nothing; a server may run meanwhile.

${lines([['--repair NEWDIR', 'write what can be read of a damaged store to NEWDIR; say what is lost']])}
${optionLines('Options')}
${elsewhere}`,

  export: () => `Usage: countersign export [OPTIONS]

Writes all items of a data directory as lines of JSON, which "countersign import" reads. No server may use the
data directory meanwhile. Users, clients, consumers, keys and nonces are not exported.

Options:
${lines([
  ['--output FILE', 'a new file, mode 0600; - is standard output (default: -)'],
  ['--with-tokens', 'export the grants and tokens of OAuth too; of a token only its SHA-256 is stored'],
  ...transferLines,
])}`,

  import: () => `Usage: countersign import [OPTIONS]

Reads an export into a data directory that has no items. Ids, the order of creation, times and entity tags
stay the same. Nothing is imported unless every line is valid and every item fits the configured collections.

To edit an export, remove "storeId" from its first line: all entity tags are then new. An item needs
"collection", "id" and "value"; its other members are drawn if they are left out. The last line must stay.

Options:
${lines([['--input FILE', '- is standard input (default: -)'], ...transferLines])}`,

  sign: () => `Usage: countersign sign METHOD URL --user NAME [OPTIONS]

Prints the header fields that sign a request, one a line, as curl -H @- reads them. The secret is taken from
COUNTERSIGN_SECRET, else from the first line of standard input.

Options:
${lines([
  ['--user NAME', 'who signs'],
  ['--simple', 'the simple form: no date and no nonce, so it can be replayed'],
  ['--date DATE', 'the date to sign, such as "20 apr 2013 12:59:24", in UTC (default: now)'],
  ['--nonce NONCE', '1 to 128 of A-Z a-z 0-9 . _ ~ - (default: random)'],
  ['--content FILE', 'sign the digest of the content too; - is standard input'],
  ['--curl', 'print a whole curl command instead'],
])}`,

  user: () => `Usage: countersign user add NAME
       countersign user rotate NAME [--grace TIME]
       countersign user remove|disable|enable NAME
       countersign user list

Keeps the users of a data directory. A server that runs on it goes by a change when the command ends. Who is
disabled keeps secret and password, and is refused as if unknown. A new user's secret is COUNTERSIGN_SECRET
where that is set, else it is made and printed once.

Options:
${lines([
  ['--grace TIME', 'how long the old secret stays valid: 90s, 15m, 24h, 7d, or 0 (default: 24h)'],
  ...placeLines('users'),
])}`,

  client: () => `Usage: countersign client add [ID] [OPTIONS]
       countersign client remove ID [OPTIONS]
       countersign client list [OPTIONS]

Keeps the clients of OAuth 2.0 of a data directory. A server that runs on it goes by a change when the command
ends; with a client its tokens end. ${secretsSay}
It is kept as a digest.

Options of add:
${lines([
  ['--redirect-uri URI', 'where users come back to, exactly; again for each'],
  ['--grant NAME', `${grantTypes.join(', ')}; again for each`],
  ['', '(default: the first two)'],
  ['--scope NAME', 'read, write; again for each (default: read)'],
  ['--users NAME', "whose resources client_credentials reaches; again for each; '*': all users'"],
  ['--public', 'no secret: it cannot keep one'],
  stdinLine,
])}
Options:
${lines(placeLines('clients'))}`,

  consumer: () => `Usage: countersign consumer add [KEY] [OPTIONS]
       countersign consumer remove KEY [OPTIONS]
       countersign consumer list [OPTIONS]

Keeps the consumers of OAuth 1.0a of a data directory. A server that runs on it goes by a change when the
command ends; with a consumer its tokens end. ${secretsSay}

Options of add:
${lines([
  ['--callback URI|oob', 'where users come back to, exactly; oob: they carry the verifier; again for each'],
  ['--method NAME', `${signatureMethods.join(', ')}; again for each`],
  ['', '(default: the first two, or RSA-SHA1 with a key)'],
  ['--scope NAME', 'read, write; again for each (default: read)'],
  ['--rsa-public-key FILE', 'what RSA-SHA1 is verified with, in PEM'],
  stdinLine,
])}
Options:
${lines(placeLines('consumers'))}`,
};

const secretsSay = `The secret of a new one is the first line of standard input with
--secret-stdin, else COUNTERSIGN_SECRET where that is set, else it is made and printed once.`;

const stdinLine = ['--secret-stdin', 'the secret is the first line of standard input'] as const;

/** The options of all commands that keep somebody. */
function placeLines(who: string): [string, string][] {
  return [
    ['--data DIR', "the data directory (default: the server's)"],
    ['--key-file FILE', 'the key that secrets are encrypted with; or COUNTERSIGN_KEY'],
    ['--config FILE', `a configuration file, for its data directory and its ${who}`],
  ];
}

const elsewhere = `Each is also an environment variable (${variableOf('hmacSimple')}) and a key of the configuration file
(hmacSimple). The flag wins, then the variable, then the file, which also has users, clients, consumers,
collections and seed.
`;

function optionLines(title: string): string {
  const told = [...optionSpecs].flatMap(([key, spec]): [string, string][] =>
    spec.about === undefined ? [] : [[usageOf(key, spec), aboutOf(spec, spec.about)]],
  );
  return `${title}:\n${lines(told)}`;
}

function usageOf(key: string, spec: OptionSpec): string {
  if (spec.kind === 'toggle') return flagOf(key);
  return `${flagOf(key)} ${spec.kind === 'choice' ? spec.words.join('|') : spec.value}`;
}

function aboutOf(spec: OptionSpec, about: string): string {
  if (spec.kind === 'toggle' || spec.fallback === undefined) return about;
  return `${about} (default: ${spec.fallback})`;
}

/** Two columns; what is too wide for the first has a line of its own. */
function lines(pairs: readonly (readonly [string, string])[]): string {
  const width = 28;
  return pairs
    .map(([left, right]) => {
      const gap = left.length > width - 2 ? `\n${' '.repeat(width + 2)}` : ' '.repeat(width - left.length);
      return `  ${left}${gap}${right}\n`;
    })
    .join('');
}
