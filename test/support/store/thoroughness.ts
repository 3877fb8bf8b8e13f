/** Whether tests try every state and many random cases: `npm run test:long`. Otherwise they try a part. */
export const long = process.env['TEST_LONG'] !== undefined;

/** Why tests that belong to the long form only are skipped; false if they run. */
export const onlyLong = long ? false : 'belongs to the long form: npm run test:long';

/** The distance from one byte that is cut at or flipped to the next, and from one state that is continued to the next. */
export const stride = long ? 1 : 3;

/** The same distance where there are so many bytes or states that a few of them show every outcome. It starts at random. */
export const wideStride = long ? 1 : 8;
