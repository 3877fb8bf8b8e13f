import { statSync } from 'node:fs';

/**
 * Goes on as the owner of a directory where this process may do everything, so that what it makes there is the
 * owner's: a server could not read what belongs to the administrator alone. Changes nothing for anybody else.
 */
export function actAsOwnerOf(directory: string): void {
  const { geteuid, setegid, seteuid } = process;
  if (geteuid?.() !== 0 || setegid === undefined || seteuid === undefined) return;
  const owner = statSync(directory, { throwIfNoEntry: false });
  if (owner === undefined || owner.uid === 0) return;
  try {
    setegid(owner.gid);
    seteuid(owner.uid);
  } catch {
    // In a container somebody of the host's may be nobody here; then who may do everything makes the files.
  }
}
