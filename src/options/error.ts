/** Invalid options. `faults` lists every error, one sentence each. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  /**
   * `usage`: a flag is unknown, repeated or lacks its value; `invalid`: a value is invalid; `unreadable`: the
   * configuration file cannot be read.
   */
  readonly code: 'usage' | 'invalid' | 'unreadable';
  readonly faults: readonly string[];

  constructor(faults: readonly string[], code: OptionsError['code']) {
    super(faults.join('\n'));
    this.faults = faults;
    this.code = code;
  }
}
