/** Whether a run takes its time: in CI, once. Elsewhere a part of what is tried there is enough. */
export const long = process.env['CI'] !== undefined;

/** From one byte that is cut at or flipped to the next, and from one state that is gone on with. */
export const stride = long ? 1 : 3;
