const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[!-~]{0,200})?$/;

/**
 * Returns the value of traceparent if it is valid (W3C Trace Context §3.2): version, trace id, parent id and flags. A version
 * later than 00 may have further parts. Returns undefined for any other value, which must be ignored.
 */
export function parseTraceparent(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const [whole, version, traceId, parentId, more] = form.exec(value) ?? [];
  if (version === undefined || version === 'ff') return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return isZero(traceId) || isZero(parentId) ? undefined : whole;
}

function isZero(digits: string | undefined): boolean {
  return digits === undefined || /^0+$/.test(digits);
}
