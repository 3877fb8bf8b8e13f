import { CountersignError } from '../countersign-error.ts';

/** The codes of {@link StoreError}. */
type StoreErrorCode =
  /** There is no space for a change. */
  | 'full'
  /** The storage failed. */
  | 'failed'
  /** Another process, or this one, uses the data directory. */
  | 'locked'
  /** A file is corrupt. It is not changed. */
  | 'damaged'
  /** Other users than its owner can access the data directory or a file in it. */
  | 'exposed'
  /** A directory cannot be used as the data directory. */
  | 'directory'
  /** The database cannot be reached. */
  | 'unreachable'
  /** A newer version has migrated the data. */
  | 'newer'
  /** A setting of the database is unsuitable. */
  | 'unsuitable'
  /** The database refused a command. */
  | 'refused';

/** Thrown by a store that cannot be opened, or cannot store a change. */
export class StoreError extends CountersignError {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  /** Whether the store has already reported the cause, so that it need not be reported for each change. */
  readonly reported: boolean;
  /** Whether the change may have been made, because the storage was lost before its result was known. */
  readonly uncertain: boolean;

  /**
   * @param options.cause the error that caused it. Default: none
   * @param options.reported whether the store has already reported the cause. Default: false
   * @param options.uncertain whether the change may have been made. Default: false
   */
  constructor(
    code: StoreErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly reported?: boolean; readonly uncertain?: boolean } = {},
  ) {
    const { cause, reported = false, uncertain = false } = options;
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.reported = reported;
    this.uncertain = uncertain;
  }
}

/**
 * Returns whether an error is a StoreError, with this code if one is given. Its name decides, because an engine may be loaded from
 * another copy of the package, such as one beside the module of a server that is installed globally.
 */
export function isStoreError(error: unknown, code?: StoreErrorCode): error is StoreError {
  if (!(error instanceof Error && error.name === 'StoreError' && 'code' in error)) return false;
  return code === undefined || error.code === code;
}

/** Emits a line as a warning of the process. The default of `onWarning` of every engine. */
export function emitWarning(line: string): void {
  process.emitWarning(line, 'CountersignWarning');
}
