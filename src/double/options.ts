import type { DateLike } from '../clock.ts';
import { didYouMean } from '../did-you-mean.ts';
import {
  checkFlag,
  checkFunction,
  checkNumber,
  checkObject,
  checkText,
  checkWord,
} from '../service/argument-checks.ts';
import { checkOptionValues } from '../service/option-checks.ts';
import { optionNames, type ServiceOptions } from '../service/options.ts';
import { checkAliases } from './fetch/origins.ts';
import { checkJournalLimits, type JournalOptions } from './journal/journal.ts';
import type { CompileSchema } from './partner/json-schema.ts';
import type { DoubleUsersOption } from './state/users.ts';
import type { Stub } from './stubs/declaration.ts';

/** The service options that a double sets itself. */
type OwnOption = 'clock' | 'random' | 'store' | 'nonces' | 'notBefore' | 'masterKey' | 'observer' | 'users';

/** The options of a double: those of a service, and the ones below. All are optional. */
export interface DoubleOptions extends Omit<ServiceOptions, OwnOption> {
  /**
   * Users by name, or a list of names. A user `{}` and a user in a list get a generated secret and password.
   * @example { johndoe: { secret: 's3cret', password: 'pw' }, ann: {} }
   */
  readonly users?: DoubleUsersOption;
  /** The seed of all ids, nonces, tokens and other random values: equal seeds produce equal values. Default: random. */
  readonly randomSeed?: string | number;
  /** The time at which the clock is frozen until the test moves it. Default: the clock follows the host's. */
  readonly now?: DateLike;
  /** Whether the double also listens on HTTPS. OAuth requires it. Default: true. */
  readonly https?: boolean;
  /**
   * Whether the process may exit while the double is open. Default: true, so that a test that does not close its double cannot block
   * the test run. With `false`, a script that only starts a double keeps running until it is closed.
   */
  readonly unref?: boolean;
  /** The limits of the journal: `entries` (default: 1,000), `bytes` of all entries (16 MiB), and bytes of `content` that are recorded (64 KiB). */
  readonly journal?: Pick<JournalOptions, 'entries' | 'bytes' | 'content'>;
  /** The port of plain HTTP. Default: 0, which picks a free one. The start rejects with ListenError if it is in use. */
  readonly port?: number;
  /** The port of HTTPS, as `port`. */
  readonly securePort?: number;
  /**
   * Further origins that `fetch` accepts, and that redirects may lead to. Requests to them have their Host, which OAuth accepts as
   * one of the double's. Default: none.
   * @example ['http://example.com', 'https://api.example:8443']
   */
  readonly aliases?: readonly string[];
  /**
   * The stubs at the start, as `double.stub` adds them. `reset` restores them.
   * @example [{ match: { path: '/rates/{currency}' }, response: { body: { rate: '1.08' } }, access: 'anyone' }]
   */
  readonly stubs?: readonly Stub[];
  /**
   * The OpenAPI document of a partner, 3.0 or 3.1: the path of a file in JSON, or the document. It answers what no stub, resource and
   * collection does, and checks the requests. Without the option `collections` there are then none.
   * @example './partner.json'
   */
  readonly partner?: string | object;
  /**
   * Compiles the schemas of the partner's document, for a complete check of JSON Schema. Default: types, required members,
   * enumerations, ranges and the like are checked.
   * @example (schema) => ajv.compile(schema)
   */
  readonly validate?: CompileSchema;
  /**
   * With `error`, `close` rejects with DoubleError (`pending-faults`) if a planned fault was not applied to all its requests. Default:
   * `ignore`.
   */
  readonly pendingFaults?: 'ignore' | 'error';
}

/** The options that only a double has. The type checks that the list is complete. */
const doubleOnly: Readonly<Record<Exclude<keyof DoubleOptions, keyof ServiceOptions>, true>> = {
  randomSeed: true,
  now: true,
  https: true,
  unref: true,
  journal: true,
  pendingFaults: true,
  port: true,
  securePort: true,
  aliases: true,
  stubs: true,
  partner: true,
  validate: true,
};

const ownOptions: Readonly<Record<Exclude<OwnOption, 'users'>, true>> = {
  clock: true,
  random: true,
  store: true,
  nonces: true,
  notBefore: true,
  masterKey: true,
  observer: true,
};

/** Throws RangeError on an unknown option or an invalid value, with a suggestion. */
export function checkDoubleOptions(options: DoubleOptions): void {
  checkObject(options, 'the options of a double');
  const names = [...Object.keys(optionNames), ...Object.keys(doubleOnly)].filter(
    (name) => !Object.hasOwn(ownOptions, name),
  );
  for (const name of Object.keys(options)) {
    if (!names.includes(name))
      throw new RangeError(`${name} is not an option of a double${didYouMean(name, names)}`);
  }
  checkOptionValues(options);
  const { https, unref, journal, pendingFaults, randomSeed, aliases, stubs } = options;
  checkFlag(https, 'https');
  checkFlag(unref, 'unref');
  checkJournalLimits(journal);
  checkWord(pendingFaults, ['ignore', 'error'], 'a value of pendingFaults');
  checkPorts(options);
  checkAliases(aliases);
  const { partner, validate } = options;
  if (partner !== undefined && typeof partner !== 'string')
    checkObject(partner, 'partner', 'or the path of a file');
  checkFunction(validate, 'validate');
  if (validate !== undefined && partner === undefined)
    throw new RangeError('validate requires the option partner');
  if (stubs !== undefined && !Array.isArray(stubs)) throw new RangeError('stubs must be a list of stubs');
  if (typeof randomSeed !== 'number') checkText(randomSeed, 'randomSeed');
}

function checkPorts({ port = 0, securePort, https = true }: DoubleOptions): void {
  const range = { least: 0, most: 65_535, whole: true };
  checkNumber(port, 'port', range);
  checkNumber(securePort, 'securePort', range);
  if (securePort === undefined) return;
  if (!https) throw new RangeError('securePort requires HTTPS, which is disabled');
  if (port === securePort && port !== 0) throw new RangeError(`port and securePort are both ${port}`);
}
