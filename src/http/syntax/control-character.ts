// Does not use Unicode property escapes, which add a third of a millisecond to a start.

/** A control character (Cc of Unicode: C0, DEL and C1). */
const control = /[\0-\x1f\x7f-\x9f]/;
/** A lone surrogate, which UTF-8 cannot encode (Cs of Unicode). */
const loneSurrogate = /[\ud800-\udfff]/u;

/**
 * A character that could start a line, move the cursor, or change or hide what is displayed: control characters, line separators, and
 * format characters (Cf of Unicode), such as bidirectional controls, zero-width characters and tags.
 */
const invisible =
  /[\0-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

/** Returns a text for one line of a terminal: invisible characters are escaped as in JSON, `\n` or `\u202e`. */
export function escapeInvisible(text: string): string {
  return text.replace(invisible, (character) => {
    const written = JSON.stringify(character).slice(1, -1);
    return written === character ? character.replace(/./gs, escapeUnit) : written;
  });
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Returns whether a text contains a control character. */
export function hasControlCharacter(text: string): boolean {
  return control.test(text);
}

/** Returns whether a text contains a lone surrogate. */
export function hasLoneSurrogate(text: string): boolean {
  return loneSurrogate.test(text);
}
