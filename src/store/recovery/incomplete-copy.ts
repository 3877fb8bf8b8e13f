import { DirectoryError } from '../files/directory.ts';

/** The file that a directory has while the files of a copy are moved into it. Without it, the copy is complete. */
export const incompleteCopyName = 'copy.incomplete';

/** The subdirectory in which a copy is prepared. */
export const preparedCopyName = 'copy.tmp';

/** Throws DirectoryError if a copy into the directory was interrupted, so that it contains a part of the files only. */
export function rejectIncompleteCopy(directory: string, names: readonly string[]): void {
  if (!names.includes(incompleteCopyName)) return;
  throw new DirectoryError(
    directory,
    'a backup or restore into it was interrupted; repeat it, or remove the directory',
  );
}
