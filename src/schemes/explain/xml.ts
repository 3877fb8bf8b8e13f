// Mistakes in XML that was parsed and written again before it was signed. The texts are changed, as programs differ in few places.
import type { TextMistake } from './mistake.ts';

/** The hint. */
const xmlAgain = 'the XML was parsed and serialized again before it was signed; sign the bytes that are sent';

type Change = (xml: string) => string;

const keep: Change = (xml) => xml;
const withoutDeclaration: Change = (xml) => xml.replace(/^\s*<\?xml[^>]{0,256}\?>\s*/, '');

/** The declarations that programs write (XML 1.0 §2.8). */
const declarations: readonly Change[] = [
  keep,
  withoutDeclaration,
  ...[
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<?xml version="1.0" encoding="utf-8"?>',
    // ElementTree and lxml of Python.
    "<?xml version='1.0' encoding='UTF-8'?>",
    "<?xml version='1.0' encoding='utf-8'?>",
    // DOM of Java.
    '<?xml version="1.0" encoding="UTF-8" standalone="no"?>',
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>',
    '<?xml version="1.0"?>',
  ].flatMap((declaration) =>
    ['', '\n', '\r\n'].map(
      (lineEnd): Change =>
        (xml) =>
          declaration + lineEnd + withoutDeclaration(xml),
    ),
  ),
];

const emptyElement = /<([^\s<>/!?]{1,128})((?:\s[^<>]{0,1024})?)><\/\1>/g;

/** The forms of elements without content. */
const emptyElements: readonly Change[] = [
  keep,
  (xml) => xml.replace(/\s?\/>/g, ' />').replace(emptyElement, '<$1$2 />'),
  (xml) => xml.replace(/\s?\/>/g, '/>').replace(emptyElement, '<$1$2/>'),
  (xml) =>
    xml.replace(
      /<([^\s<>/!?]{1,128})((?:\s[^<>]{0,1024})?)\/>/g,
      (_, name: string, rest: string) => `<${name}${rest.trimEnd()}></${name}>`,
    ),
];

/** The white space between elements. */
const spaces: readonly Change[] = [
  keep,
  (xml) => xml.trim().replace(/>\s+</g, '><'),
  (xml) => xml.trim(),
  (xml) => `${xml.trim()}\n`,
];

/** Yields the forms in which programs write XML again. */
function* rewriteXml(content: string): Generator<string> {
  if (!/^\s*<[?!\w]/.test(content)) return;
  for (const space of spaces)
    for (const empty of emptyElements)
      for (const declare of declarations) yield declare(empty(space(content)));
}

/** The mistake. */
export const xmlMistake: TextMistake = [xmlAgain, rewriteXml];
