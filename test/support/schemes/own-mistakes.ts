// Mistakes that only one scheme has, by the form of its credentials, its message or its key.
import { constants, createPrivateKey, type SignKeyObjectInput, sign } from 'node:crypto';
import { type Aws4Mistake, chain } from './aws4.ts';
import type { MessageSignaturesMistake } from './message-signatures.ts';
import type { OAuth1Mistake } from './oauth1.ts';
import { computeHash, escaped, type Mistake, withField, withLine } from './signer.ts';

type OwnMistakes = Readonly<Record<string, Mistake>>;

const changed = (field: string, change: (text: string) => string): Mistake => ({
  sent: (sent) => withField(sent, field, change),
});
const rest = (change: (text: string) => string): Mistake =>
  changed('Authentication', (text) => `hmac ${change(text.slice(5))}`);
const renamed = (from: string, to: string): Mistake => ({
  sent: (sent) => ({ ...sent, lines: sent.lines.map(([name, value]) => [name === from ? to : name, value]) }),
});

const upper = (text: string): string => text.toUpperCase();

export const ofHmac: OwnMistakes = {
  'scheme misspelt': changed('Authentication', (text) => text.replace('hmac', 'HMAC-SHA256')),
  'scheme left out': changed('Authentication', (text) => text.replace('hmac ', '')),
  'colon after the scheme': changed('Authentication', (text) => text.replace('hmac', 'hmac:')),
  'field misnamed': { ...renamed('Authentication', 'X-Authentication'), request: { method: 'POST' } },
  'credentials in quotes as a whole': rest((text) => `"${text}"`),
  'credentials in base64 as a whole': rest((text) => Buffer.from(text).toString('base64')),
  'colons percent-encoded': rest((text) => text.replaceAll(':', '%3A')),
  'a list of parameters where colons separate': rest((text) => text.replaceAll(':', ', ')),
  'spaces around a colon': rest((text) => text.replace(':', ' : ')),
  'comma at the end': rest((text) => `${text},`),
  'nonce and signature exchanged': rest((text) => text.replace(/:(.*):(.*)$/, ':$2:$1')),
  'short form signed, long form sent': { message: (_, [method, target]) => `${method}+${target}` },
  'spaces left in the signed date': {
    values: (values) => ({ ...values, time: values.time?.replace(/^(\d\d)(\w{3})(\d{4})/, '$1 $2 $3 ') }),
  },
  'month in another letter case': {
    values: (values) => ({ ...values, time: values.time?.replace('nov', 'Nov') }),
  },
  'two mistakes at once': {
    values: (values) => ({ ...values, method: values.method?.toLowerCase(), query: '', mark: '' }),
  },
  'Date signed where X-Date counts': {
    sent: (sent) => withLine(sent, 'X-Date', '22 nov 2026 12:00:01'),
  },
  'IMF-fixdate signed, short form sent': {
    values: (values) => ({ ...values, time: 'Sun,22Nov202612:00:00GMT' }),
  },
  'short form signed, IMF-fixdate sent': {
    time: (_, now) => new Date(now).toUTCString(),
    values: (values) => ({ ...values, time: '22nov202612:00:00' }),
  },
  'digest of no content signed without content': {
    request: { method: 'GET', content: undefined, lines: [] },
    values: (values) => ({ ...values, digest: computeHash('sha256', '').toString('hex') }),
  },
  'Content-MD5 signed where Content-Digest counts': {
    request: {
      method: 'POST',
      content: 'a',
      lines: [
        ['Content-Type', 'text/plain'],
        ['Content-MD5', 'bWQ1'],
      ],
    },
    values: (values) => ({ ...values, digest: 'bWQ1' }),
  },
};

export const ofSimpleHmac: OwnMistakes = {
  'long form signed, short form sent': {
    values: (values) => ({ ...values, time: '22nov202612:00:00' }),
    sent: (sent) => withLine(sent, 'Date', '22 nov 2026 12:00:00'),
  },
};

const text = (change: (base: string) => string): Mistake => ({ message: (base) => change(base) });

export const ofPartner: OwnMistakes = {
  'fixed text at the start left out': text((base) => base.replace('v1:', '')),
  'field of the time missing': renamed('X-Timestamp', 'X-Other'),
  'field of the nonce missing': renamed('X-Nonce', 'X-Other'),
  'field of the user missing': renamed('X-Api-Key', 'X-Other'),
};

export const ofStripe: OwnMistakes = {
  'signature sent alone': changed('Stripe-Signature', (value) => value.replace(/.*v1=/, '')),
  'elements separated otherwise': changed('Stripe-Signature', (value) => value.replace(',', ';')),
  'only the element of test mode': changed('Stripe-Signature', (value) => value.replace('v1=', 'v0=')),
  'two different times': changed('Stripe-Signature', (value) => `${value},t=1`),
  'time missing': changed('Stripe-Signature', (value) => value.replace(/^t=\d+,/, '')),
};

export const ofStandardWebhooks: OwnMistakes = {
  'secret not decoded': { key: (secret) => secret.replace(/^whsec_/, '') },
  'prefix of the secret kept': { key: (secret) => secret },
  'signature sent without v1': changed('webhook-signature', (value) => value.slice(3)),
};

const aws = (mistake: Aws4Mistake): Aws4Mistake => mistake;
const meta: Aws4Mistake['request'] = { lines: [['X-Meta', 'a']] };
const authorization = (change: (value: string) => string): Mistake => changed('Authorization', change);

export const ofAws4: OwnMistakes = {
  'a space after each colon': aws({ headers: (list) => list.replaceAll(':', ': ') }),
  'names not in lower case': aws({
    headers: (list) => list.replace('host', 'Host').replace('x-amz-date', 'X-Amz-Date'),
  }),
  'list joined by commas': aws({ signedHeaders: (list) => list.replaceAll(';', ',') }),
  'list left out': aws({ signedHeaders: () => '' }),
  'field signed that was never sent': aws({ headers: (list) => `content-type:application/json\n${list}` }),
  'field signed, but not in the list': aws({ request: meta, listed: (list) => list.replace(';x-meta', '') }),
  'field in the list, but not signed': aws({
    request: meta,
    headers: (list) => list.replace(/x-meta:.*\n/, ''),
  }),
  'fields in another order than the list': aws({
    headers: (list) =>
      list
        .split(/(?<=\n)/)
        .reverse()
        .join(''),
  }),
  'blank line after the fields missing': aws({ headers: (list) => list.trimEnd() }),
  'one blank line too many after the fields': aws({ headers: (list) => `${list}\n` }),
  'line of an absent query left out': aws({
    request: { query: '' },
    canonical: (base) => base.replace('\n\n', '\n'),
  }),
  'names of fields in capitals, in the list too': aws({
    headers: (list) => list.replace(/^[a-z]/gm, upper).replace(/-[a-z](?=.*:)/g, upper),
    signedHeaders: (list) => list.replace(/(?<![a-z\d])[a-z]/g, upper),
  }),
  'line feed at the end of the canonical request': aws({ canonical: (base) => `${base}\n` }),
  'canonical request not hashed': aws({
    toSign: (base, canonical) => base.replace(/[0-9a-f]{64}$/, canonical),
  }),
  'canonical request signed in place of the string to sign': aws({ toSign: (_, canonical) => canonical }),
  'canonical request hashed with CR LF': aws({
    toSign: (base, canonical) =>
      base.replace(
        /[0-9a-f]{64}$/,
        computeHash('sha256', canonical.replaceAll('\n', '\r\n')).toString('hex'),
      ),
  }),
  'hash of the canonical request in base64': aws({
    toSign: (base, canonical) =>
      base.replace(/[0-9a-f]{64}$/, computeHash('sha256', canonical).toString('base64')),
  }),
  'hash of the canonical request in upper case': aws({
    toSign: (base) => base.replace(/[0-9a-f]{64}$/, (hash) => hash.toUpperCase()),
  }),
  'lines of a repeated field joined by a comma and a space': {
    request: {
      lines: [
        ['X-Meta', 'a'],
        ['X-Meta', 'b'],
      ],
    },
    values: (values) => ({ ...values, field: 'a, b' }),
  },
  'algorithm left out': aws({ toSign: (base) => base.replace(/^.*\n/, '') }),
  'scope with the key id in front': aws({ scope: (scope) => `ann/${scope}` }),
  'scope without its end': aws({ scope: (scope) => scope.replace('/aws4_request', '') }),
  'scope with region and service exchanged': aws({
    scope: (scope) => scope.replace(/\/(.*)\/(.*)\//, '/$2/$1/'),
  }),
  'scope without its day': aws({ scope: (scope) => scope.replace(/^\d+\//, '') }),
  'scope with the time of day': aws({ scope: (scope) => scope.replace(/^\d+/, '$&T120000Z') }),
  'no derivation': aws({ derived: (secret) => secret }),
  'derivation with the prefix in lower case': aws({
    derived: (secret, steps) => chain(`aws4${secret}`, ...steps),
  }),
  'derivation with its steps in reverse': aws({
    derived: (secret, steps) => chain(`AWS4${secret}`, ...steps.toReversed()),
  }),
  'derivation without the prefix': aws({ derived: (secret, steps) => chain(secret, ...steps) }),
  'derivation without steps': aws({ derived: (secret) => `AWS4${secret}` }),
  'derivation without its last step': aws({
    derived: (secret, steps) => chain(`AWS4${secret}`, ...steps.slice(0, 3)),
  }),
  'derivation with region and service exchanged': aws({
    derived: (secret, [day = '', region = '', service = '', end = '']) =>
      chain(`AWS4${secret}`, day, service, region, end),
  }),
  'derivation with another day': aws({
    derived: (secret, [, ...steps]) => chain(`AWS4${secret}`, '20261121', ...steps),
  }),
  'derived key in hexadecimal': aws({
    derived: (secret, steps) => Buffer.from(chain(`AWS4${secret}`, ...steps)).toString('hex'),
  }),
  'UNSIGNED-PAYLOAD signed': { values: (values) => ({ ...values, digest: 'UNSIGNED-PAYLOAD' }) },
  'region of another endpoint': authorization((value) => value.replace('eu-central-1', 'us-east-1')),
  'service of another endpoint': authorization((value) => value.replace('execute-api', 's3')),
  'region and service of another endpoint': authorization((value) =>
    value.replace('eu-central-1/execute-api', 'us-east-1/s3'),
  ),
  'scope incomplete': authorization((value) => value.replace('/aws4_request', '')),
  'SignedHeaders missing': authorization((value) => value.replace(/SignedHeaders=[^,]*, /, '')),
  'Signature missing': authorization((value) => value.replace(/, Signature=.*/, '')),
  'parameters separated by semicolons': authorization((value) => value.replaceAll(', ', '; ')),
  'parameter name in another letter case': authorization((value) =>
    value.replace('SignedHeaders', 'signedheaders'),
  ),
  'day of the scope differs from that of the request': authorization((value) =>
    value.replace('20261122', '20261121'),
  ),
  'Host not signed': aws({ listed: (list) => list.replace('host;', '') }),
  'list sent with upper case': authorization((value) =>
    value.replace('SignedHeaders=host', 'SignedHeaders=Host'),
  ),
};

const signature = (mistake: MessageSignaturesMistake): MessageSignaturesMistake => mistake;
const base = (change: (text: string) => string): Mistake => ({ message: (whole) => change(whole) });

export const ofMessageSignatures: OwnMistakes = {
  'a component that is listed, but not signed': base((whole) => whole.replace(/^"@path".*\n/m, '')),
  'components in another order': base((whole) => whole.replace(/^(.*)\n(.*)\n/, '$2\n$1\n')),
  'parameters in another order': signature({
    signedParams: (params) => params.replace(/;(created=\d+);(keyid="ann")/, ';$2;$1'),
  }),
  'parameter signed that was never sent': signature({
    signedParams: (params) => `${params};alg="hmac-sha256"`,
  }),
  'field signed that was never sent': base((whole) =>
    whole.replace(/^(?="@signature-params")/m, '"content-type": application/json\n'),
  ),
  'one parameter not signed': signature({ signedParams: (params) => params.replace(/;nonce="[^"]*"/, '') }),
  'parameters not signed': signature({ signedParams: (params) => params.replace(/;.*/, '') }),
  'label signed': signature({ signedParams: (params) => `sig1=${params}` }),
  'list without parentheses': signature({ signedParams: (params) => params.replace(/[()]/g, '') }),
  'space before each parameter': signature({ signedParams: (params) => params.replaceAll(';', '; ') }),
  'line of the parameters missing': base((whole) => whole.replace(/\n"@signature-params".*$/, '')),
  'line of the parameters first': base((whole) => whole.replace(/^(.*)\n(.*)$/s, '$2\n$1')),
  'names without quotes': base((whole) => whole.replace(/^"([^"]*)"/gm, '$1')),
  'no space after the colon': base((whole) => whole.replace(/^("[^"]*":) /gm, '$1')),
  'values signed without the names': base((whole) => whole.replace(/^"@[mapq][^"]*": /gm, '')),
  'method in front of the target, as in the older draft': base((whole) =>
    whole.replace('"@method": GET\n', '"(request-target)": get /things/a?limit=5\n'),
  ),
  'required component not covered': signature({ components: (list) => list.slice(0, 2) }),
  'field that is not sent covered': signature({ components: (list) => [...list, 'x-absent'] }),
  'component twice': signature({ components: (list) => [...list, '@path'] }),
  'unknown component': signature({ components: (list) => [...list, '@host'] }),
  'name in upper case': signature({ components: (list) => [...list, 'X-Meta'] }),
  'list names itself': signature({ components: (list) => [...list, '@signature-params'] }),
  'another algorithm than that of the key': signature({ params: (params) => `${params};alg="ed25519"` }),
  'lifetime over before it began': signature({ params: (params) => `${params};expires=1` }),
  'lifetime no number': signature({ params: (params) => `${params};expires="soon"` }),
  'label in one of two fields only': changed('Signature', (value) => value.replace('sig1', 'sig2')),
  'keyid as a token': signature({ params: (params) => params.replace('"ann"', 'ann') }),
  'comma at the end': changed('Signature-Input', (value) => `${value},`),
  'Signature missing': renamed('Signature', 'X-Signature'),
  'digest not covered': signature({
    request: { method: 'POST', content: 'a', lines: [['Content-Type', 'text/plain']] },
    components: (list) => list.filter((name) => name !== 'content-digest'),
  }),
};

/** Covers a component more, and signs another value of it. */
const component = (
  name: string,
  value: string,
  request: Mistake['request'] = {},
): MessageSignaturesMistake => ({
  request,
  components: (list) => [...list, name],
  message: (whole) => whole.replace(new RegExp(`^"${name}": .*$`, 'm'), `"${name}": ${value}`),
});

export const ofComponents: OwnMistakes = {
  '@target-uri with https': component('@target-uri', 'https://api.example:8443/things/a?limit=5'),
  '@target-uri with http': component('@target-uri', 'http://api.example:8443/things/a?limit=5', {
    secure: true,
  }),
  '@target-uri without scheme and host': component('@target-uri', '/things/a?limit=5'),
  '@scheme of the other protocol': component('@scheme', 'https'),
  '@scheme of the other protocol, over TLS': component('@scheme', 'http', { secure: true }),
  '@request-target with the method': component('@request-target', 'get /things/a?limit=5'),
  '@query-param with + for a space': component('@query-param";name="q', 'x+y', { query: 'q=x%20y' }),
  'lines of a field joined without a space': {
    request: { lines: [['X-Meta', 'a, b']] },
    ...base((whole) => whole.replace('"x-meta": a, b', '"x-meta": a,b')),
  },
  'commas between the components': base((whole) => whole.replaceAll('" "', '", "')),
  'names in title case': {
    request: { lines: [['X-Meta', 'a']] },
    ...base((whole) => whole.replace('"x-meta":', '"X-Meta":')),
  },
};

const signedWith = (hash: string, options: Omit<SignKeyObjectInput, 'key'> = {}): Mistake => ({
  sign: (message, key) => sign(hash, message, { key: createPrivateKey(key), ...options }),
});
const padding = constants.RSA_PKCS1_PSS_PADDING;

/** Mistakes in the computation with a private key. */
export const ofEcdsa: OwnMistakes = {
  'signature in DER': signedWith('sha256'),
  'another hash function': signedWith('sha512', { dsaEncoding: 'ieee-p1363' }),
};
export const ofRsaPss: OwnMistakes = {
  'salt of another length': signedWith('sha512', { padding, saltLength: 32 }),
  'another hash function': signedWith('sha256', { padding }),
  'another padding': signedWith('sha256'),
};

const oauth = (mistake: OAuth1Mistake): OAuth1Mistake => mistake;
const parameter = (name: string, value: string | undefined): OAuth1Mistake => ({
  parameters: ({ [name]: _, ...others }) => (value === undefined ? others : { ...others, [name]: value }),
});

/** The parameters in the order in which they are sent. */
const asSent = [
  'oauth_consumer_key',
  'oauth_token',
  'oauth_signature_method',
  'oauth_timestamp',
  'oauth_nonce',
  'limit',
];

export const ofOAuth1: OwnMistakes = {
  'secret of the token left out': oauth({ keyText: (secret) => `${escaped(secret)}&` }),
  'secret of the consumer alone': oauth({ keyText: (secret) => secret }),
  'separator of the secrets left out': oauth({ keyText: (secret, token) => secret + token }),
  'secrets encoded as a whole': oauth({ keyText: (secret, token) => escaped(`${secret}&${token}`) }),
  'secrets exchanged': oauth({ keyText: (secret, token) => `${token}&${secret}` }),
  'parameters encoded once': base((whole) => whole.replace(/&[^&]*$/, decodeURIComponent)),
  'parts not percent-encoded': { message: (_, parts) => parts.join('&') },
  'parameters not sorted': oauth({
    pairs: (pairs) => asSent.flatMap((name) => pairs.filter((pair) => pair.startsWith(`${name}=`))),
  }),
  'signature parameter signed too': oauth({ pairs: (pairs) => [...pairs, 'oauth_signature='].sort() }),
  'version signed, not sent': oauth({ pairs: (pairs) => [...pairs, 'oauth_version=1.0'].sort() }),
  'protocol parameter sent, but not signed': oauth({
    pairs: (pairs) => pairs.filter((pair) => !pair.startsWith('oauth_token=')),
  }),
  'realm signed': {
    ...oauth({ pairs: (pairs) => [...pairs, 'realm=x'].sort() }),
    ...authorization((value) => value.replace('OAuth ', 'OAuth realm="x", ')),
  },
  'members of JSON signed': oauth({
    request: { method: 'POST', content: '{"c":3}', lines: [['Content-Type', 'application/json']] },
    pairs: (pairs) => [...pairs, 'c=3'].sort(),
  }),
  'version not supported': parameter('oauth_version', '2.0'),
  'unknown protocol parameter': parameter('oauth_singature', 'x'),
  'method not supported': parameter('oauth_signature_method', 'HMAC-MD5'),
  'method not allowed for this client': parameter('oauth_signature_method', 'RSA-SHA1'),
  'nonce missing': parameter('oauth_nonce', undefined),
  'consumer missing': parameter('oauth_consumer_key', undefined),
  'token unknown': parameter('oauth_token', 'unknown'),
  'parameters separated by semicolons': authorization((value) => value.replaceAll(', ', '; ')),
  'parameters not in quotes': authorization((value) => value.replaceAll('"', '')),
  'scheme misspelt': authorization((value) => value.replace('OAuth', 'OAuth1')),
  'hash parameter of another content': parameter(
    'oauth_body_hash',
    computeHash('sha1', 'other').toString('base64'),
  ),
  'field sent twice': { sent: (sent) => withLine(sent, 'Authorization', 'OAuth realm="x"') },
};
