import type { DateLike } from '../clock.ts';
import type { ServiceOptions } from '../service/options.ts';
import { serviceMembers } from '../service/options-shape.ts';
import {
  anything,
  either,
  flag,
  grammar,
  listOf,
  mapOf,
  number,
  object,
  optional,
  read,
  type ShapesOf,
  text,
  word,
} from '../shape/shape.ts';
import { checkAliases } from './fetch/origins.ts';
import type { JournalLimits } from './journal/journal.ts';
import type { PartnerOptions } from './partner/validation.ts';
import type { DoubleUsersOption } from './state/users.ts';
import type { Stub } from './stubs/declaration.ts';

/** The service options that a double sets itself. */
const ownOptions = ['clock', 'random', 'store', 'nonces', 'notBefore', 'masterKey', 'observer'] as const;

/** The options of a double: those of a service, and the ones below. All are optional. */
export interface DoubleOptions extends Omit<ServiceOptions, (typeof ownOptions)[number] | 'users'> {
  /**
   * Users by name, or a list of names. A user `{}` and a user in a list get a generated secret and password.
   * @example { johndoe: { secret: 's3cret', password: 'pw' }, ann: {} }
   */
  readonly users?: DoubleUsersOption | undefined;
  /** The seed of all ids, nonces, tokens and other random values: equal seeds produce equal values. Default: random. */
  readonly randomSeed?: string | number | undefined;
  /** The time at which the clock is frozen until the test moves it. Default: the clock follows the host's. */
  readonly now?: DateLike | undefined;
  /** Whether the double also listens on HTTPS. OAuth requires it. Default: true. */
  readonly https?: boolean | undefined;
  /**
   * Whether the process may exit while the double is open. Default: true, so that a test that does not close its double cannot block
   * the test run. With `false`, a script that only starts a double keeps running until it is closed.
   */
  readonly unref?: boolean | undefined;
  /** The limits of the journal. */
  readonly journal?: JournalLimits | undefined;
  /** The port of plain HTTP. Default: 0, which picks a free one. The start rejects with ListenError if it is in use. */
  readonly port?: number | undefined;
  /** The port of HTTPS, as `port`. */
  readonly securePort?: number | undefined;
  /**
   * Further origins that `fetch` accepts, and that redirects may lead to. Requests to them have their Host, which OAuth accepts as
   * one of the double's. Default: none.
   * @example ['http://example.com', 'https://api.example:8443']
   */
  readonly aliases?: readonly string[] | undefined;
  /**
   * The stubs at the start, as `double.stub` adds them. `reset` restores them.
   * @example [{ match: { path: '/rates/{currency}' }, response: { body: { rate: '1.08' } }, access: 'anyone' }]
   */
  readonly stubs?: readonly Stub[] | undefined;
  /**
   * The OpenAPI document of a partner, 3.0 or 3.1: the path of a file in JSON, or the document. It answers what no stub, resource and
   * collection does, and checks the requests. Without the option `collections` there are then none. An object with the member `document`
   * has options beside it.
   * @example './partner.json'
   * @example { document: './partner.json', validation: 'warn' }
   */
  readonly partner?: string | PartnerOptions | object | undefined;
  /**
   * Whether a request over plain HTTP counts as one over TLS where API keys, bearer tokens, Basic and OAuth require TLS: the double
   * stands where the partner's `https` origin stands, and `fetch` of Node.js cannot trust a certificate that is made at run time.
   * `required` refuses it as a server does. Default: `assumed`.
   */
  readonly tls?: 'assumed' | 'required' | undefined;
  /**
   * With `error`, `close` rejects with DoubleError (`pending-faults`) if a planned fault was not applied to all its requests. Default:
   * `ignore`.
   */
  readonly pendingFaults?: 'ignore' | 'error' | undefined;
}

const portShape = number({ min: 0, max: 65_535 });

/** The options that only a double has. */
const doubleMembers = {
  randomSeed: optional(either(number({ whole: false }), text())),
  now: optional(anything),
  https: optional(flag()),
  unref: optional(flag()),
  journal: optional(
    object({ entries: optional(anything), bytes: optional(anything), body: optional(anything) }),
  ),
  pendingFaults: optional(word(['ignore', 'error'])),
  tls: optional(word(['assumed', 'required'])),
  port: optional(portShape),
  securePort: optional(portShape),
  aliases: optional(grammar({}, 'a list of origins', checkAliases)),
  stubs: optional(listOf(anything, undefined, { expected: 'a list of stubs' })),
  partner: optional(
    either(text(), mapOf(anything, undefined, { expected: 'an object or the path of a file' })),
  ),
} satisfies ShapesOf<Omit<DoubleOptions, keyof ServiceOptions>>;

const doubleShape = object({
  ...Object.fromEntries(
    Object.entries(serviceMembers).filter(([name]) => !ownOptions.some((own) => own === name)),
  ),
  ...doubleMembers,
});

/** Throws RangeError on an unknown option or an invalid value, with a suggestion. */
export function checkDoubleOptions(options: DoubleOptions): void {
  read(doubleShape, options, { optionsOf: 'a double' });
  const { port = 0, securePort, https = true } = options;
  if (securePort === undefined) return;
  if (!https) throw new RangeError('securePort requires HTTPS, which is disabled');
  if (port === securePort && port !== 0) throw new RangeError(`port and securePort are both ${port}`);
}
