/** The options are not valid. `faults` has everything that is wrong with them, one sentence each. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  /**
   * `usage`: the command line has a flag that is unknown, comes twice or lacks its value; `invalid`: what is said is
   * wrong; `unreadable`: the configuration file cannot be read at all.
   */
  readonly code: 'usage' | 'invalid' | 'unreadable';
  readonly faults: readonly string[];

  constructor(faults: readonly string[], code: OptionsError['code']) {
    super(faults.join('\n'));
    this.faults = faults;
    this.code = code;
  }
}
