/** The greatest skew of a date in ms: 366 days. */
export const maxSkew = 366 * 86_400_000;
