import { CountersignError } from '../countersign-error.ts';

/**
 * Why a function of a double failed:
 * - `timeout`: no entry or event matched in time
 * - `no-match`: the journal has no such entry
 * - `pending-faults`: planned faults were not applied before the double was closed
 * - `closed`: the double was closed
 * - `unavailable`: the double has nothing of this kind, such as an origin over HTTPS
 */
type DoubleErrorCode = 'timeout' | 'no-match' | 'pending-faults' | 'closed' | 'unavailable';

/** An error of a double. Its message lists what there is, such as the entries of the journal. */
export class DoubleError extends CountersignError {
  override readonly name = 'DoubleError';
  /**
   * The reason: `timeout`, `no-match`, `pending-faults`, `closed`, or `unavailable`:
   * the double has nothing of this kind.
   */
  override readonly code: DoubleErrorCode;

  /** @internal */
  constructor(code: DoubleErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
