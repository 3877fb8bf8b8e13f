import { algorithmNamed } from '../accounts/parse-account-key.ts';
import { isSignatureAlgorithm } from '../algorithms.ts';
import { readDuration } from '../duration.ts';
import type { AuthScheme } from '../schemes/auth-scheme.ts';
import { aws4Members } from '../schemes/aws4/options.ts';
import { type ConfigurableScheme, namedSchemes, readScheme } from '../schemes/configured-schemes.ts';
import { isPreset } from '../schemes/declared/presets.ts';
import { findDefinition } from '../schemes/defined/define-scheme.ts';
import { messageSignaturesMembers } from '../schemes/rfc9421/options.ts';
import { filledText } from '../schemes/scheme-shapes.ts';
import type { SigningChoices, SigningIdentity } from '../schemes/signing.ts';
import { defaulted, type Members, membersOf, read, selectMembers, word } from '../shape/shape.ts';
import { parsePrivateKey } from './private-key.ts';

/** A scheme to sign with. */
export type KnownScheme = ConfigurableScheme | AuthScheme<'hmac' | 'basic' | 'bearer' | 'oauth1'>;

/** A scheme to sign with, read from a declaration. */
export interface ReadDeclaration {
  readonly scheme: KnownScheme;
  /** The identity in the declaration. Its members take precedence over those beside it. */
  readonly identity: SigningIdentity;
  readonly choices: SigningChoices;
}

/**
 * Reads a declaration.
 *
 * @param value The option `scheme`.
 * @param user The user that signs, for a declared scheme that sends none.
 * @throws RangeError if a member is unknown, with the nearest known name, or invalid
 */
export function readSigningDeclaration(value: unknown, user: string | undefined): ReadDeclaration {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RangeError('scheme must be an object');
  const none = { identity: {}, choices: {} };
  if (findDefinition(value) !== undefined) return { scheme: readScheme('defined', value, 'scheme'), ...none };
  const members: Members = Object.fromEntries(Object.entries(value));
  if (members['type'] !== undefined) return readNamed(members);
  const isDeclared = 'preset' in members || 'message' in members;
  if (!isDeclared && !('secret' in members))
    throw new RangeError('scheme must have one of type, preset, message and secret');
  const { preset } = members;
  const other = isDeclared ? 'declared' : 'api-key';
  const name = typeof preset === 'string' && isPreset(preset) ? preset : other;
  return { scheme: readScheme(name, members, 'scheme', user ?? 'user'), ...none };
}

/** Reads the declaration of a scheme that has a name of its own. */
function readNamed({ type, ...members }: Members): ReadDeclaration {
  switch (read(defaulted(word(namedSchemes), 'aws4'), type, ['scheme.type'])) {
    case 'aws4':
      return readAws4(members);
    case 'message-signatures':
      return readMessageSignatures(members);
    case 'draft-cavage':
      return { scheme: readScheme('draft-cavage', members, 'scheme'), identity: {}, choices: {} };
  }
}

function readMessageSignatures(members: Members): ReadDeclaration {
  const { signResponses: _, ...ofServer } = messageSignaturesMembers;
  const names = Object.keys(ofServer);
  read(membersOf([...names, 'key', 'lifetime', 'alg', 'label']), members, ['scheme']);
  const { lifetime, alg, label } = members;
  if (alg !== undefined && typeof alg !== 'boolean') throw new RangeError('scheme.alg must be true or false');
  return {
    scheme: readScheme('message-signatures', selectMembers(members, names), 'scheme'),
    identity: readKey(members['key']),
    choices: {
      alg,
      lifetime: lifetime === undefined ? undefined : readSeconds(lifetime, 'scheme.lifetime'),
      label: label === undefined ? undefined : read(filledText, label, ['scheme.label']),
    },
  };
}

function readKey(value: unknown): SigningIdentity {
  const where = 'scheme.key';
  const members = read(membersOf(['id', 'algorithm', 'privateKey', 'secret']), value, [where]);
  const { algorithm: named, privateKey, secret } = members;
  const keyId = read(filledText, members['id'], [`${where}.id`]);
  const algorithm = named === undefined ? undefined : algorithmNamed(named, where);
  if ((privateKey === undefined) === (secret === undefined))
    throw new RangeError(`${where} must have either privateKey or secret`);
  if (privateKey === undefined) {
    if (algorithm !== undefined && algorithm !== 'hmac-sha256')
      throw new RangeError(`${where}.secret: ${algorithm} requires privateKey`);
    return { keyId, secret: read(filledText, secret, [`${where}.secret`]) };
  }
  if (algorithm !== undefined && !isSignatureAlgorithm(algorithm))
    throw new RangeError(`${where}.privateKey: ${algorithm} requires secret`);
  return { keyId, algorithm, privateKey: parsePrivateKey(privateKey, `${where}.privateKey`) };
}

function readAws4(members: Members): ReadDeclaration {
  const names = Object.keys(aws4Members);
  read(membersOf([...names, 'accessKeyId', 'secret', 'sessionToken', 'presign']), members, ['scheme']);
  const { sessionToken, presign } = members;
  return {
    scheme: readScheme('aws4', selectMembers(members, names), 'scheme'),
    identity: {
      keyId: read(filledText, members['accessKeyId'], ['scheme.accessKeyId']),
      secret: read(filledText, members['secret'], ['scheme.secret']),
    },
    choices: {
      sessionToken:
        sessionToken === undefined ? undefined : read(filledText, sessionToken, ['scheme.sessionToken']),
      presign: presign === undefined ? undefined : readSeconds(presign, 'scheme.presign'),
    },
  };
}

function readSeconds(value: unknown, where: string): number {
  const length = (readDuration(value, 1000) ?? 0) / 1000;
  if (Number.isInteger(length) && length >= 1) return length;
  throw new RangeError(`${where} must be a whole number of seconds, at least 1, or text such as 5m`);
}
