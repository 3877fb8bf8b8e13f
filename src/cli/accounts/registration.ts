import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { AccountFile } from '../../accounts/account-file.ts';
import { systemClock } from '../../clock.ts';
import { toPrintable } from '../../options/flags.ts';
import type { Options } from '../../options/options.ts';
import { describeFault } from '../../shape/fault.ts';
import type { Shape } from '../../shape/shape.ts';
import type { CommandFlag } from '../command-table.ts';
import { CommandError } from '../errors.ts';
import type { Command, Terminal } from '../terminal.ts';
import {
  type AccountCall,
  createAccountCommand,
  type GivenFlags,
  listing,
  removing,
} from './account-command.ts';
import { addEntry, changeExisting, checkNotConfigured, findExisting, type Report } from './command.ts';
import { type ChosenSecret, chooseSecret, generateSecret } from './credentials.ts';
import { checkSecretUnused } from './secret-owner.ts';

/** The members of a registration that the flags set. */
type GivenMembers = Readonly<Record<string, unknown>>;

/** A kind of OAuth registration: clients or consumers. */
interface RegistrationKind<T extends { readonly secret?: unknown; readonly since?: number | undefined }> {
  readonly accountFile: AccountFile<T>;
  /** Returns the registrations of the configuration file. */
  configured(options: Options): ReadonlyMap<string, T>;
  /** The placeholder of the name in messages: `ID` or `KEY`. */
  readonly label: string;
  /** The options of the command. */
  readonly flags: readonly CommandFlag[];
  /** The flags of `add`, and the member of a registration that each sets. */
  readonly members: ReadonlyMap<string, string>;
  /** Returns the parts of a registration besides its secret, and whether it has one. Throws CommandError. */
  prepare(
    given: GivenMembers,
    flags: GivenFlags['flags'],
  ): { readonly parts: GivenMembers; readonly hasSecret: boolean };
  /** Describes registrations. `options` are undefined if their scopes are not compared with those of the server. */
  describeAll(options?: Options): Shape<Readonly<Record<string, T>>>;
  /** Returns which option is missing without which it could not be used; undefined if none is. */
  findMissing(entry: T): string | undefined;
  /** Returns the stored form of a secret. */
  store(secret: ChosenSecret): T['secret'] | Promise<T['secret']>;
  /** Returns why a registration has no secret: `is public`. */
  explainNoSecret(entry: T): string;
  /** Returns a description on one line, without the secret. */
  describe(entry: T): string;
}

type RegistrationCall<T> = AccountCall<T, GivenFlags>;

/** Returns the command `countersign client` or `countersign consumer`. */
export function createRegistrationCommand<T extends { readonly secret?: unknown }>(
  kind: RegistrationKind<T>,
): Command {
  const { accountFile, label, flags, configured } = kind;
  return createAccountCommand<T, GivenFlags>({
    accountFile,
    command: `countersign ${accountFile.one}`,
    label,
    example: `countersign ${accountFile.one} add ${label}`,
    flags,
    actions: {
      add: { name: 'generated', run: (call, terminal) => add(kind, call, terminal) },
      rotate: { name: 'required', run: (call, terminal) => rotate(kind, call, terminal) },
      remove: removing(),
      list: listing(
        ({ options }) =>
          Array.from(configured(options), ([name, entry]) => [name, kind.describe(entry), options.config]),
        kind.describe,
        '; ',
      ),
    },
    generateName: () => generateSecret(randomBytes),
    readInput: (_, given) => given,
  });
}

async function add<T extends { readonly secret?: unknown }>(
  kind: RegistrationKind<T>,
  target: RegistrationCall<T>,
  terminal: Terminal,
): Promise<Report> {
  const { name, input, options } = target;
  const secret = await chooseSecret(input.flags, terminal);
  checkNotConfigured(target);
  const { parts, hasSecret } = kind.prepare(readMembers(kind, input), input.flags);
  const given = { ...parts, secret: hasSecret ? secret.text : undefined };
  const entry = readGiven(kind, name, given, input, options);
  const missing = kind.findMissing(entry);
  if (missing !== undefined) throw new CommandError([missing]);
  if (!secret.isGenerated) await checkSecretUnused(secret.text, target);
  const stored = hasSecret ? { ...entry, secret: await kind.store(secret) } : entry;
  const mark = await addEntry(target, { ...stored, since: systemClock.now() }, 'remove it first');
  const shown = { [kind.accountFile.one]: name, ...(hasSecret && { secret: secret.shown }) };
  return { shown, mark };
}

/** Replaces the secret of a registration. Its tokens remain valid. */
async function rotate<T extends { readonly secret?: unknown }>(
  kind: RegistrationKind<T>,
  target: RegistrationCall<T>,
  terminal: Terminal,
): Promise<Report> {
  const { name, accountFile } = target;
  const secret = await chooseSecret(target.input.flags, terminal);
  const before = await findExisting(target);
  if (before.secret === undefined)
    throw new CommandError([`the ${accountFile.one} ${name} ${kind.explainNoSecret(before)}`], 1);
  const given = { ...before, since: undefined, secret: secret.text };
  readGiven(kind, name, given, { flags: new Map(), lists: new Map() });
  if (!secret.isGenerated) await checkSecretUnused(secret.text, target);
  const rotated = { ...before, secret: await kind.store(secret) };
  return changeExisting(target, (entry) => {
    if (!isDeepStrictEqual(entry, before))
      throw new CommandError([`the ${accountFile.one} ${name} was changed meanwhile; try again`], 1);
    return {
      entry: rotated,
      shown: { [accountFile.one]: name, secret: secret.shown },
      notes: ['the old secret is no longer valid'],
    };
  });
}

/** Returns the members of a registration that the flags set. The user `*` alone stands for all. */
function readMembers(
  { members: own }: Pick<RegistrationKind<never>, 'members'>,
  { flags, lists }: GivenFlags,
): GivenMembers {
  const members = [...own].map(([flag, member]) => {
    const value = lists.get(flag) ?? flags.get(flag);
    return [member, member === 'users' && isDeepStrictEqual(value, ['*']) ? '*' : value];
  });
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

/** Reads a registration. Throws a CommandError that describes the faults in terms of the flags. */
function readGiven<T extends { readonly secret?: unknown }>(
  { accountFile, members, describeAll }: RegistrationKind<T>,
  name: string,
  given: GivenMembers,
  { lists }: GivenFlags,
  options?: Options,
): T {
  const read = describeAll(options).read({ [name]: given });
  const [entry] = 'value' in read ? Object.values(read.value) : [];
  if (entry !== undefined) return entry;
  const sentences = ('faults' in read ? read.faults : []).map((fault) => {
    const [, member, index] = fault.path;
    const flag = [...members].find(([, each]) => each === member)?.[0];
    const value = flag === undefined ? undefined : lists.get(flag)?.[Number(index)];
    const shown = value === undefined ? '' : ` ${toPrintable(JSON.stringify(value))}`;
    const owner = member === undefined ? `the ${accountFile.one} ${toPrintable(name)}` : `the ${member}`;
    return `${flag === undefined ? owner : `${flag}${shown}`} ${describeFault(fault)}`;
  });
  throw new CommandError(sentences);
}
