import { consumerFile } from '../../accounts/clients.ts';
import { type ConsumerRegistration, defaultMethods, readConsumer } from '../../accounts/registration.ts';
import { isRsaMethod } from '../../signature/oauth1.ts';
import {
  type ChosenSecret,
  chooseSecret,
  createRegistrationCommand,
  type NewRegistration,
  noInput,
  type RegistrationInput,
  type RegistrationKind,
  readKeyFile,
  readMembers,
  readUsers,
  throwFaults,
} from '../accounts/registration.ts';
import { secretFlag } from '../accounts/secret-input.ts';
import { commandTable } from '../command-table.ts';
import { CommandError } from '../errors.ts';

const kind: RegistrationKind<ConsumerRegistration> = {
  accountFile: consumerFile,
  configured: ({ consumers }) => consumers,
  label: 'KEY',
  flags: commandTable.consumer.flags,
  members: new Map([
    ['--callback', 'callbacks'],
    ['--method', 'methods'],
    ['--scope', 'scopes'],
    ['--users', 'users'],
    ['--plain-http', 'plainHttp'],
    ['--rsa-public-key', 'rsaPublicKey'],
  ]),
  create,
  rotate,
  describe: ({ secret, rsaPublicKey, methods, scopes, users, plainHttp, callbacks }) =>
    [
      [secret === undefined ? [] : 'with a secret', rsaPublicKey === undefined ? [] : 'an RSA key']
        .flat()
        .join(' and '),
      methods.join(' '),
      scopes.join(' ') || 'no scope',
      ...(users.length === 0 ? [] : [`users ${users === '*' ? '*' : users.join(' ')}`]),
      ...(plainHttp ? ['plain HTTP'] : []),
      ...callbacks,
    ].join('; '),
};

/** Runs `countersign consumer add [KEY]`, `consumer rotate KEY`, `consumer remove KEY` or `consumer list`. Returns the exit status. */
export const consumer = createRegistrationCommand(kind);

async function create(key: string, input: RegistrationInput): Promise<NewRegistration<ConsumerRegistration>> {
  const { rsaPublicKey: file, methods: given, users, ...members } = readMembers(kind, input);
  const rsaPublicKey = typeof file === 'string' ? readKeyFile(file) : undefined;
  const methods = given ?? (rsaPublicKey === undefined ? undefined : defaultMethods.rsaPublicKey);
  // The methods with RSA use no shared secret (RFC 5849 §3.4.3).
  const needsSecret = !Array.isArray(methods) || methods.some((method) => !isRsaMethod(String(method)));
  if (!needsSecret && input.flags.has(secretFlag))
    throw new CommandError([`${secretFlag} cannot be used: the methods with RSA have no secret`]);
  const secret = needsSecret ? chooseSecret(input) : undefined;
  const { made: entry, faults } = readConsumer(key, {
    ...members,
    methods,
    users: readUsers(users),
    rsaPublicKey,
    secret: secret?.text,
  });
  throwFaults(kind, key, input, faults);
  if (entry.callbacks.length === 0 && entry.users.length === 0)
    throw new CommandError([
      '--callback URI or --callback oob is required; a consumer without tokens can have --users NAME',
    ]);
  return { entry, shownSecret: secret?.shown };
}

/** Replaces the secret. Throws CommandError for a consumer without one, or a secret that is not valid. */
async function rotate(
  key: string,
  consumer: ConsumerRegistration,
  secret: ChosenSecret,
): Promise<ConsumerRegistration> {
  if (consumer.secret === undefined)
    throw new CommandError([`the consumer ${key} has no secret: it signs with its RSA key`], 1);
  const rotated = { ...consumer, secret: secret.text };
  const { since: _, ...parts } = rotated;
  throwFaults(kind, key, noInput, readConsumer(key, parts).faults);
  return rotated;
}
