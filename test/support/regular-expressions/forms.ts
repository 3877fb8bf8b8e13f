/** An escape, a class, the beginning or end of a group, a count, or another character. */
const tokenForm =
  /\\(?:[upP]\{[^}]*\}|u[0-9a-f]{4}|x[0-9a-f]{2}|.)|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:<?[=!]|:|<[^>]*>))?|\)|\{\d+(?:,\d*)?\}|./gisu;

/** Returns an expression in which a count is 2 at most: how often something is repeated multiplies the time by a constant. */
export function withSmallCounts(source: string): string {
  const small = (token: string) => token.replace(/\d+/g, (count) => `${Math.min(Number(count), 2)}`);
  return tokensOf(source)
    .map((token) => (/^\{\d/.test(token) ? small(token) : token))
    .join('');
}

/** Returns an expression in which a word has two letters at most. It takes less time to judge, and is seldom judged otherwise. */
export function withShortWords(source: string): string {
  const tokens = tokensOf(source);
  const isLetter = (token = '') => /^[A-Za-z]$/.test(token);
  const isRepeated = (at: number) => /^[*+?{]/.test(tokens[at + 1] ?? '');
  let length = 0;
  return tokens
    .filter((token, at) => {
      length = isLetter(token) ? length + 1 : 0;
      return length <= 2 || isRepeated(at);
    })
    .join('');
}

/**
 * Returns expressions without lookaround that are linear only if this one is. Lookahead is not entered again once it has matched, so it
 * costs what it costs at the end of what precedes it, and what follows it costs no more with it than without it. Lookbehind of one
 * character is that character, or the beginning; other lookbehind is what it looks for.
 */
export function withoutLookaround(source: string): string[] {
  const tokens = tokensOf(source);
  const start = tokens.findIndex((token) => /^\(\?<?[=!]/.test(token));
  if (start < 0) return [source];
  const end = endOfGroup(tokens, start);
  const [before, inner, after] = [
    tokens.slice(0, start).join(''),
    tokens.slice(start + 1, end),
    tokens.slice(end + 1).join(''),
  ];
  const within = `(?:${inner.join('')})`;
  if (tokens[start] === '(?<!') return withoutLookaround(`${before}(?:^|${complementOf(inner)})${after}`);
  if (tokens[start] === '(?<=') return withoutLookaround(`${before}${within}${after}`);
  const open = tokens.slice(0, start).reduce((depth, token) => depth + depthOf(token), 0);
  return [`${before}${within}${')'.repeat(open)}`, `${before}${after}`].flatMap(withoutLookaround);
}

/** Returns the class of all characters but one, or but those of a class. */
function complementOf([token = '', ...others]: readonly string[]): string {
  if (others.length > 0) throw new Error('negative lookbehind of more than a character is not known');
  if (token.startsWith('[^')) return `[${token.slice(2)}`;
  return token.startsWith('[') ? `[^${token.slice(1)}` : `[^${token}]`;
}

function tokensOf(source: string): string[] {
  return source.match(tokenForm) ?? [];
}

function endOfGroup(tokens: readonly string[], start: number): number {
  let depth = 0;
  return tokens.findIndex((token, at) => {
    if (at >= start) depth += depthOf(token);
    return at >= start && depth === 0;
  });
}

function depthOf(token: string): number {
  if (token.startsWith('(')) return 1;
  return token === ')' ? -1 : 0;
}
