// The parts of the credentials of a declared scheme beside the signature: where each may be, and what it is.

import type { Declaration } from './declaration.ts';
import type { RolePlace } from './place.ts';
import type { FormatName } from './signature-format.ts';

/** A part of the credentials beside the signature. */
export type Role = 'user' | 'timestamp' | 'nonce' | 'id' | 'passphrase';

/** What a part is. */
interface RoleFacts {
  /** The placeholders in the format of the signature that can stand for it. The first one there counts. */
  readonly inFormat: readonly FormatName[];
  /** What its place does, in sentences: `contains the nonce`. */
  readonly purpose: string;
  /** Whether the message must contain it, because anyone could change it otherwise. */
  readonly isSigned: boolean;
  /** Returns what it is, for documents. */
  describe(declaration: Declaration): string;
}

export const roles: Readonly<Record<Role, RoleFacts>> = {
  user: {
    inFormat: ['key-id', 'user'],
    purpose: 'names the user',
    isSigned: false,
    describe: () => 'The user or the id of a key',
  },
  timestamp: {
    inFormat: ['timestamp'],
    purpose: 'contains the timestamp',
    isSigned: true,
    describe: ({ timestamp }) => `The signed time (${timestamp?.unit})`,
  },
  nonce: {
    inFormat: ['nonce'],
    purpose: 'contains the nonce',
    isSigned: true,
    describe: () => 'A text that is used only once',
  },
  id: {
    inFormat: [],
    purpose: 'contains the id',
    isSigned: true,
    describe: () => 'The signed id of the message',
  },
  passphrase: {
    inFormat: [],
    purpose: 'contains the passphrase',
    isSigned: false,
    describe: () => 'The passphrase of the key',
  },
};

/** Returns the parts that a declaration has, with their places. */
export function listRoles({
  user,
  timestamp,
  nonce,
  id,
  passphrase,
}: Declaration): readonly (readonly [role: Role, place: RolePlace])[] {
  const places: readonly (readonly [Role, RolePlace | string | undefined])[] = [
    ['user', user],
    ['timestamp', timestamp?.place],
    ['nonce', nonce],
    ['id', id],
    ['passphrase', passphrase],
  ];
  return places.flatMap(([role, place]) => (typeof place === 'object' ? [[role, place] as const] : []));
}
