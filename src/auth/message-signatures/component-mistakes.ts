// Values of components that clients sign by mistake.
import type { RequestMessage } from '../../signature/message-signatures/message.ts';

/** A value that a client may have signed for a component. */
export interface ComponentMistake {
  readonly hint: string;
  readonly signed: string;
}

type Alternatives = (
  value: string,
  message: RequestMessage,
) => readonly (readonly [hint: string, signed: string])[];

/** Lists the values that clients sign by mistake for a component, given by its identifier as in the signature base. */
export function componentMistakes(
  identifier: string,
  value: string,
  message: RequestMessage,
): readonly ComponentMistake[] {
  const name = /^"([^"]*)"/.exec(identifier)?.[1] ?? '';
  const alternatives = name.startsWith('@') ? (ofDerived[name] ?? none) : ofField(name);
  return alternatives(value, message)
    .filter(([, signed]) => signed !== value)
    .map(([hint, signed]) => ({ hint, signed }));
}

const none: Alternatives = () => [];

const ofDerived: Readonly<Record<string, Alternatives>> = {
  '@method': (value) => [
    ['the method was signed in lower case', value.toLowerCase()],
    ['the method was signed in upper case', value.toUpperCase()],
  ],
  '@authority': authorities,
  '@path': paths,
  '@query': queries,
  '@query-param': (value) => [
    ['the value of "@query-param" was signed decoded', decoded(value)],
    ['the value of "@query-param" was signed with + for a space; it is %20', value.replaceAll('%20', '+')],
    ['the value of "@query-param" was encoded without the characters !\'()~', decodedMarks(value)],
  ],
  '@target-uri': targetUris,
  '@scheme': (value) => [
    ['"@scheme" was signed as http, but the request arrived over TLS', value === 'https' ? 'http' : value],
    [
      '"@scheme" was signed as https, but the request arrived without TLS',
      value === 'http' ? 'https' : value,
    ],
    ['"@scheme" was signed with a colon', `${value}:`],
    ['"@scheme" was signed in upper case', value.toUpperCase()],
  ],
  '@request-target': (value, { method }) => [
    [
      '"@request-target" was signed with the method, as in draft-cavage-http-signatures',
      `${method.toLowerCase()} ${value}`,
    ],
    ['"@request-target" was signed without its query', withoutQuery(value)],
  ],
};

function authorities(value: string, { fields, secure }: RequestMessage): ReturnType<Alternatives> {
  const host = fields.get('host') ?? '';
  const [name = ''] = value.split(':');
  const port = secure ? '443' : '80';
  const isCapital = host !== host.toLowerCase();
  return [
    ['"@authority" was signed with the default port; it is omitted', `${value}:${port}`],
    [
      '"@authority" was signed with the default port of the other scheme',
      `${value}:${secure ? '80' : '443'}`,
    ],
    [
      isCapital
        ? '"@authority" must be in lower case'
        : '"@authority" was signed as Host was sent; the default port is omitted',
      host,
    ],
    ['"@authority" must be in lower case', value.toUpperCase()],
    ['"@authority" must be in lower case', value.charAt(0).toUpperCase() + value.slice(1)],
    ['"@authority" was signed without the port', name],
    ['"@authority" was signed with the scheme', `${secure ? 'https' : 'http'}://${value}`],
    ['"@authority" was signed as localhost', value.replace(name, 'localhost')],
    ['"@authority" was signed as 127.0.0.1', value.replace(name, '127.0.0.1')],
  ];
}

function paths(value: string, { target }: RequestMessage): ReturnType<Alternatives> {
  return [
    ['"@path" was signed decoded; it is signed as sent', decoded(value)],
    ['"@path" was signed with percent-encoding that was not sent', encodeURI(value)],
    ['"@path" was signed with double percent-encoding', value.replaceAll('%', '%25')],
    ['"@path" was normalized before it was signed; it is signed as sent', normalized(value)],
    ['"@path" was normalized before it was signed; it is signed as sent', value.replace(/\/{2,}/g, '/')],
    ['"@path" was signed with the query', target],
    ['"@path" was signed without its trailing slash', value.replace(/\/$/, '')],
    ['"@path" was signed with a trailing slash', `${value}/`],
    ['"@path" was signed without its leading slash', value.slice(1)],
    ['the percent-encoding in "@path" was signed in another case', lowerEscapes(value)],
    ['the percent-encoding in "@path" was signed in another case', upperEscapes(value)],
  ];
}

function queries(value: string): ReturnType<Alternatives> {
  const pairs = value.slice(1).split('&');
  return [
    ['"@query" was signed without its question mark', value.slice(1)],
    ['"@query" was signed decoded; it is signed as sent', decoded(value)],
    ['the parameters of "@query" were sorted; they are signed as sent', `?${[...pairs].sort().join('&')}`],
    ['"@query" was signed with + for a space; it is signed as sent', value.replaceAll('%20', '+')],
    ['"@query" was signed with %20 for a space; it is signed as sent', value.replaceAll('+', '%20')],
    ['"@query" was encoded like a form; it is signed as sent', `?${new URLSearchParams(value).toString()}`],
    ['the percent-encoding in "@query" was signed in another case', lowerEscapes(value)],
    ['the percent-encoding in "@query" was signed in another case', upperEscapes(value)],
    ['"@query" was signed as empty, but the request has a query', '?'],
  ];
}

function targetUris(value: string, { target, secure }: RequestMessage): ReturnType<Alternatives> {
  const rest = value.replace(/^https?:\/\//i, '');
  const port = secure ? '443' : '80';
  return [
    ['"@target-uri" was signed with http, but the request arrived over TLS', `http://${rest}`],
    ['"@target-uri" was signed with https, but the request arrived without TLS', `https://${rest}`],
    ['"@target-uri" was signed without scheme and authority', target],
    ['"@target-uri" was signed without its query', withoutQuery(value)],
    [
      '"@target-uri" was signed with the default port; it is omitted',
      value.replace(/^(https?:\/\/[^/?]*)/, `$1:${port}`),
    ],
    ['"@target-uri" was signed with a trailing slash', `${value}/`],
    ['"@target-uri" was normalized before it was signed', normalizedUri(value)],
    ['"@target-uri" was signed decoded; it is signed as sent', decoded(value)],
  ];
}

/** The values of a field that clients sign by mistake. */
function ofField(name: string): Alternatives {
  return (value, { fields }) => {
    const lines = fields.lines(name);
    const [mediaType = ''] = value.split(';');
    return [
      [`the value of ${name} was signed with white space around it`, ` ${value}`],
      [`the value of ${name} was signed with white space around it`, `${value} `],
      [`the value of ${name} was signed in lower case`, value.toLowerCase()],
      [`the lines of ${name} were joined with a comma without a space`, lines.join(',')],
      [`only the first line of ${name} was signed`, lines[0] ?? value],
      [`only the last line of ${name} was signed`, lines.at(-1) ?? value],
      [`the value of ${name} was signed without its parameters`, mediaType],
      [`the value of ${name} was signed with white space that was not sent`, value.replace(/,\s*/g, ', ')],
      [`the value of ${name} was signed as its base64 alone`, /=:([^:]*):/.exec(value)?.[1] ?? value],
      [`the value of ${name} was signed in quotes`, `"${value}"`],
      [`${name} was signed as empty`, ''],
    ];
  };
}

function decoded(value: string): string {
  try {
    return Buffer.from(decodeURIComponent(value), 'utf8').toString('latin1');
  } catch {
    return value;
  }
}

function decodedMarks(value: string): string {
  return value.replace(/%(?:21|27|28|29|7E)/g, (octet) => decodeURIComponent(octet));
}

function withoutQuery(value: string): string {
  return value.replace(/\?.*$/, '');
}

function normalized(path: string): string {
  return pathOf(`http://host${path}`) ?? path;
}

function pathOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).pathname : undefined;
}

function normalizedUri(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).href : uri;
}

function lowerEscapes(value: string): string {
  return value.replace(/%[0-9A-F]{2}/gi, (octet) => octet.toLowerCase());
}

function upperEscapes(value: string): string {
  return value.replace(/%[0-9a-f]{2}/gi, (octet) => octet.toUpperCase());
}
