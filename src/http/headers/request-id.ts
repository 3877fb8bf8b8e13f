/** An id that is safe in a log and in a field: ASCII without spaces, quotes, commas and backslashes. */
const form = /^[A-Za-z0-9._~:=+/@-]{1,128}$/;

/** Returns the value of X-Request-Id if it can be used as an id: 1 to 128 characters of `A-Z a-z 0-9 . _ ~ : = + / @ -`. */
export function usableRequestId(value: string | undefined): string | undefined {
  return value !== undefined && form.test(value) ? value : undefined;
}
