import { readFileSync } from 'node:fs';
import { consumerFile } from '../../accounts/clients.ts';
import { type ConsumerRegistration, readConsumer } from '../../accounts/registration.ts';
import { errorCode } from '../../store/files/disk.ts';
import {
  type NewRegistration,
  partsOf,
  type RegistrationInput,
  type RegistrationKind,
  refuseFaults,
  registrationCommand,
  secretFlag,
  secretOf,
} from '../accounts/registration.ts';
import { CommandError } from '../errors.ts';

const kind: RegistrationKind<ConsumerRegistration> = {
  roster: consumerFile,
  configured: ({ consumers }) => consumers,
  label: 'KEY',
  flags: new Map([
    ['--callback', { arity: 'values', part: 'callbacks' }],
    ['--method', { arity: 'values', part: 'methods' }],
    ['--scope', { arity: 'values', part: 'scopes' }],
    ['--rsa-public-key', { arity: 'value', part: 'rsaPublicKey' }],
  ]),
  make,
  describe: ({ secret, rsaPublicKey, methods, scopes, callbacks }) =>
    [
      [secret === undefined ? [] : 'with a secret', rsaPublicKey === undefined ? [] : 'an RSA key']
        .flat()
        .join(' and '),
      methods.join(' '),
      scopes.join(' ') || 'no scope',
      ...callbacks,
    ].join('; '),
};

/** `countersign consumer add [KEY]`, `consumer remove KEY`, `consumer list`. Gives the exit status. */
export const consumer = registrationCommand(kind);

async function make(key: string, said: RegistrationInput): Promise<NewRegistration<ConsumerRegistration>> {
  const { rsaPublicKey: file, methods, ...parts } = partsOf(kind, said);
  const rsaPublicKey = typeof file === 'string' ? readKey(file) : undefined;
  const wanted = methods ?? (rsaPublicKey === undefined ? undefined : ['RSA-SHA1']);
  // Who signs with RSA alone shares no secret.
  const shares = !Array.isArray(wanted) || wanted.some((method) => method !== 'RSA-SHA1');
  if (!shares && said.flags.has(secretFlag)) throw new CommandError(['no --method needs a secret']);
  const secret = shares ? secretOf(said) : undefined;
  const given = { ...parts, methods: wanted, rsaPublicKey, secret: secret?.text };
  const { made: entry, faults } = readConsumer(key, given);
  refuseFaults(kind, key, said, faults);
  if (entry.callbacks.length === 0)
    throw new CommandError(['--callback is needed: the URI that users come back to, or oob']);
  return { entry, shown: secret?.shown };
}

function readKey(path: string): string {
  try {
    return readFileSync(path, 'latin1').trim();
  } catch (error) {
    throw new CommandError([`${path} cannot be read (${errorCode(error) ?? 'unknown'})`], 1);
  }
}
