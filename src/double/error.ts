/** Why a function of a double failed: `no-match`: the journal has no such entry. */
export type DoubleErrorCode = 'no-match';

/** An error of a double that a test can tell apart by its code. */
export class DoubleError extends Error {
  override readonly name = 'DoubleError';
  readonly code: DoubleErrorCode;

  /** @internal */
  constructor(code: DoubleErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
