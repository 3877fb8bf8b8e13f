/** Whether tests try every state and many random cases: `npm run test:long`. Otherwise they try a part. */
export const long = process.env['TEST_LONG'] !== undefined;

/** The distance from one byte that is cut at or flipped to the next, and from one state that is continued to the next. */
export const stride = long ? 1 : 3;
