import { statSync } from 'node:fs';

/**
 * Changes the effective user of a root process to the owner of a directory, so that a server that runs as the owner can
 * read the files that the command creates. Does nothing for other users.
 */
export function actAsOwner(directory: string): void {
  const { geteuid, setegid, seteuid } = process;
  if (geteuid?.() !== 0 || setegid === undefined || seteuid === undefined) return;
  const owner = statSync(directory, { throwIfNoEntry: false });
  if (owner === undefined || owner.uid === 0) return;
  try {
    setegid(owner.gid);
    seteuid(owner.uid);
  } catch {
    // In a container, the owner may not be mapped to a user. The files then belong to root.
  }
}
