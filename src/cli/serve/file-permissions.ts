import { statSync } from 'node:fs';
import type { Options } from '../../options/options.ts';
import { findExposedFile } from '../../store/files/file-permissions.ts';
import { chmodCommand, formatMode } from '../exposure.ts';

/** Returns a warning if other users can read a configuration file that contains secrets. */
export function findExposedConfiguration({ config, users, clients, consumers }: Options): readonly string[] {
  const registered = [...clients.values(), ...consumers.values()];
  const hasSecrets = users.size > 0 || registered.some((each) => each.secret !== undefined);
  if (config === undefined || !hasSecrets) return [];
  const stats = statSync(config, { throwIfNoEntry: false });
  const exposed = stats?.isFile() ? findExposedFile(config, stats) : undefined;
  if (exposed === undefined || (exposed.mode & readableByOthers) === 0) return [];
  const what = `${config} contains secrets and is readable by other users (mode ${formatMode(exposed)})`;
  return [`${what}; fix: ${chmodCommand(exposed)}`];
}

/** The read permissions of the group and of others. */
const readableByOthers = 0o044;
