// Mistakes that only one scheme has, by the form of its credentials, its message or its key.
import type { OwnMistake } from '../../scheme-contract.ts';
import { type Aws4Mistake, chain } from '../aws4.ts';
import type { MessageSignaturesMistake } from '../message-signatures.ts';
import type { OAuth1Mistake } from '../oauth1.ts';
import { computeHash, escaped, type Mistake, withField, withLine } from '../signer.ts';

type OwnMistakes = Readonly<Record<string, OwnMistake>>;

const changed = (field: string, change: (text: string) => string): Mistake => ({
  sent: (sent) => withField(sent, field, change),
});
const rest = (change: (text: string) => string): Mistake =>
  changed('Authentication', (text) => `hmac ${change(text.slice(5))}`);
const renamed = (from: string, to: string): Mistake => ({
  sent: (sent) => ({ ...sent, lines: sent.lines.map(([name, value]) => [name === from ? to : name, value]) }),
});

export const ofHmac: OwnMistakes = {
  'scheme misspelt': {
    mistake: changed('Authentication', (text) => text.replace('hmac', 'HMAC-SHA256')),
    hint: /The Authentication field supports only the scheme hmac\./,
  },
  'scheme left out': {
    mistake: changed('Authentication', (text) => text.replace('hmac ', '')),
    hint: /the scheme is missing; send "hmac " before the credentials/,
  },
  'colon after the scheme': {
    mistake: changed('Authentication', (text) => text.replace('hmac', 'hmac:')),
    hint: /there is a colon after the scheme; send a space/,
  },
  'field misnamed': {
    mistake: { ...renamed('Authentication', 'X-Authentication'), request: { method: 'POST' } },
    hint: /credentials are in the field X-Authentication/,
  },
  'credentials in quotes as a whole': {
    mistake: rest((text) => `"${text}"`),
    hint: /the credentials are in quotes/,
  },
  'credentials in base64 as a whole': {
    mistake: rest((text) => Buffer.from(text).toString('base64')),
    hint: /the credentials are encoded in base64, as for Basic/,
  },
  'colons percent-encoded': {
    mistake: rest((text) => text.replaceAll(':', '%3A')),
    hint: /the colons are percent-encoded/,
  },
  'a list of parameters where colons separate': {
    mistake: rest((text) => text.replaceAll(':', ', ')),
    hint: /the credentials are a list of parameters, as in other schemes/,
  },
  'spaces around a colon': {
    mistake: rest((text) => text.replace(':', ' : ')),
    hint: /there are spaces around a colon/,
  },
  'comma at the end': {
    mistake: rest((text) => `${text},`),
    hint: /there is a comma or a semicolon after the credentials/,
  },
  'nonce and signature exchanged': {
    mistake: rest((text) => text.replace(/:(.*):(.*)$/, ':$2:$1')),
    hint: /nonce and digest were swapped/,
  },
  'short form signed, long form sent': {
    mistake: { message: (_, [method, target]) => `${method}+${target}` },
    hint: /the simple form was signed, but the full form was sent: date/,
  },
  'spaces left in the signed date': {
    mistake: {
      values: (values) => ({ ...values, time: values.time?.replace(/^(\d\d)(\w{3})(\d{4})/, '$1 $2 $3 ') }),
    },
    hint: /the spaces were not removed from the date/,
  },
  'month in another letter case': {
    mistake: { values: (values) => ({ ...values, time: values.time?.replace('nov', 'Nov') }) },
    hint: /the month was signed in a different letter case/,
  },
  'two mistakes at once': {
    mistake: {
      values: (values) => ({ ...values, method: values.method?.toLowerCase(), query: '', mark: '' }),
    },
    hint: /the query was left out; and the method was signed in lower case/,
  },
};

const text = (change: (base: string) => string): Mistake => ({ message: (base) => change(base) });

export const ofPartner: OwnMistakes = {
  'fixed text at the start left out': {
    mistake: text((base) => base.replace('v1:', '')),
    hint: /the text "v1:" was left out of the message/,
  },
  'field of the time missing': {
    mistake: renamed('X-Timestamp', 'X-Other'),
    hint: /The field X-Timestamp is missing; it contains the timestamp\./,
  },
  'field of the nonce missing': {
    mistake: renamed('X-Nonce', 'X-Other'),
    hint: /The field X-Nonce is missing; it contains the nonce\./,
  },
  'field of the user missing': {
    mistake: renamed('X-Api-Key', 'X-Other'),
    hint: /The field X-Api-Key is missing; it names the user\./,
  },
};

export const ofStripe: OwnMistakes = {
  'signature sent alone': {
    mistake: changed('Stripe-Signature', (value) => value.replace(/.*v1=/, '')),
    hint: /the signature was sent alone, without the text around it in/,
  },
  'elements separated otherwise': {
    mistake: changed('Stripe-Signature', (value) => value.replace(',', ';')),
    hint: /the elements are separated by ",", and named as in/,
  },
  'only the element of test mode': {
    mistake: changed('Stripe-Signature', (value) => value.replace('v1=', 'v0=')),
    hint: /the elements are separated by ",", and named as in/,
  },
  'two different times': {
    mistake: changed('Stripe-Signature', (value) => `${value},t=1`),
    hint: /the elements are separated by ",", and named as in/,
  },
  'time missing': {
    mistake: changed('Stripe-Signature', (value) => value.replace(/^t=\d+,/, '')),
    hint: /The value contains no timestamp\./,
  },
};

export const ofStandardWebhooks: OwnMistakes = {
  'secret not decoded': {
    mistake: { key: (secret) => secret.replace(/^whsec_/, '') },
    hint: /the key was not decoded from base64/,
  },
  'prefix of the secret kept': {
    mistake: { key: (secret) => secret },
    hint: /the prefix whsec_ was not removed from the secret/,
  },
  'signature sent without v1': {
    mistake: changed('webhook-signature', (value) => value.slice(3)),
    hint: /the signature was sent alone, without the text around it in/,
  },
};

const aws = (mistake: Aws4Mistake): Aws4Mistake => mistake;
const meta: Aws4Mistake['request'] = { lines: [['X-Meta', 'a']] };
const authorization = (change: (value: string) => string): Mistake => changed('Authorization', change);

export const ofAws4: OwnMistakes = {
  'a space after each colon': {
    mistake: aws({ headers: (list) => list.replaceAll(':', ': ') }),
    hint: undefined,
  },
  'names not in lower case': {
    mistake: aws({ headers: (list) => list.replace('host', 'Host').replace('x-amz-date', 'X-Amz-Date') }),
    hint: /the names of the headers were signed as sent; they must be in/,
  },
  'list joined by commas': {
    mistake: aws({ signedHeaders: (list) => list.replaceAll(';', ',') }),
    hint: /the signed headers were joined by commas; semicolons are/,
  },
  'list left out': {
    mistake: aws({ signedHeaders: () => '' }),
    hint: /the list of signed headers was left out/,
  },
  'field signed, but not in the list': {
    mistake: aws({ request: meta, listed: (list) => list.replace(';x-meta', '') }),
    hint: /x-meta was signed, but is missing in SignedHeaders/,
  },
  'field in the list, but not signed': {
    mistake: aws({ request: meta, headers: (list) => list.replace(/x-meta:.*\n/, '') }),
    hint: /x-meta is in SignedHeaders, but was not signed/,
  },
  'fields in another order than the list': {
    mistake: aws({
      headers: (list) =>
        list
          .split(/(?<=\n)/)
          .reverse()
          .join(''),
    }),
    hint: undefined,
  },
  'blank line after the fields missing': {
    mistake: aws({ headers: (list) => list.trimEnd() }),
    hint: /the blank line after the headers is missing/,
  },
  'one blank line too many after the fields': {
    mistake: aws({ headers: (list) => `${list}\n` }),
    hint: /there is a blank line too many after the headers/,
  },
  'line feed at the end of the canonical request': {
    mistake: aws({ canonical: (base) => `${base}\n` }),
    hint: /the canonical request was hashed with a trailing newline/,
  },
  'canonical request not hashed': {
    mistake: aws({ toSign: (base, canonical) => base.replace(/[0-9a-f]{64}$/, canonical) }),
    hint: /the canonical request was signed without being hashed/,
  },
  'canonical request signed in place of the string to sign': {
    mistake: aws({ toSign: (_, canonical) => canonical }),
    hint: /the canonical request itself was signed in place of the string/,
  },
  'hash of the canonical request in upper case': {
    mistake: aws({ toSign: (base) => base.replace(/[0-9a-f]{64}$/, (hash) => hash.toUpperCase()) }),
    hint: /the hash of the canonical request is in upper case/,
  },
  'algorithm left out': {
    mistake: aws({ toSign: (base) => base.replace(/^.*\n/, '') }),
    hint: /the string to sign lacks the algorithm/,
  },
  'scope with the key id in front': {
    mistake: aws({ scope: (scope) => `ann/${scope}` }),
    hint: /the scope was signed with the access key id/,
  },
  'scope without its end': {
    mistake: aws({ scope: (scope) => scope.replace('/aws4_request', '') }),
    hint: /the scope was signed without aws4_request/,
  },
  'scope with region and service exchanged': {
    mistake: aws({ scope: (scope) => scope.replace(/\/(.*)\/(.*)\//, '/$2/$1/') }),
    hint: /the scope was signed with region and service swapped/,
  },
  'scope without its day': {
    mistake: aws({ scope: (scope) => scope.replace(/^\d+\//, '') }),
    hint: /the scope was signed without the date/,
  },
  'scope with the time of day': {
    mistake: aws({ scope: (scope) => scope.replace(/^\d+/, '$&T120000Z') }),
    hint: /the scope was signed with date and time/,
  },
  'no derivation': {
    mistake: aws({ derived: (secret) => secret }),
    hint: /the secret itself was used as the signing key/,
  },
  'derivation without the prefix': {
    mistake: aws({ derived: (secret, steps) => chain(secret, ...steps) }),
    hint: /the signing key was derived without the prefix AWS4 before the/,
  },
  'derivation without steps': {
    mistake: aws({ derived: (secret) => `AWS4${secret}` }),
    hint: /the secret with the prefix AWS4 was used as the signing key/,
  },
  'derivation without its last step': {
    mistake: aws({ derived: (secret, steps) => chain(`AWS4${secret}`, ...steps.slice(0, 3)) }),
    hint: /the signing key was derived without the last step, aws4_request/,
  },
  'derivation with region and service exchanged': {
    mistake: aws({
      derived: (secret, [day = '', region = '', service = '', end = '']) =>
        chain(`AWS4${secret}`, day, service, region, end),
    }),
    hint: /the signing key was derived with region and service in the/,
  },
  'derivation with another day': {
    mistake: aws({ derived: (secret, [, ...steps]) => chain(`AWS4${secret}`, '20261121', ...steps) }),
    hint: /the signing key was derived with the date 20261121, and the/,
  },
  'derivation with another region': {
    mistake: aws({
      derived: (secret, [day = '', , ...steps]) => chain(`AWS4${secret}`, day, 'us-east-1', ...steps),
    }),
    hint: /the signing key was derived for the region "us-east-1", and the/,
  },
  'derivation with another service': {
    mistake: aws({
      derived: (secret, [day = '', region = '']) => chain(`AWS4${secret}`, day, region, 's3', 'aws4_request'),
    }),
    hint: /the signing key was derived for the service "s3", and the scope/,
  },
  'derived key in hexadecimal': {
    mistake: aws({
      derived: (secret, steps) => Buffer.from(chain(`AWS4${secret}`, ...steps)).toString('hex'),
    }),
    hint: /the signing key was used in hexadecimal; it must be used as/,
  },
  'UNSIGNED-PAYLOAD signed': {
    mistake: { values: (values) => ({ ...values, digest: 'UNSIGNED-PAYLOAD' }) },
    hint: /the payload hash was signed as UNSIGNED-PAYLOAD, and the/,
  },
  'region of another endpoint': {
    mistake: authorization((value) => value.replace('eu-central-1', 'us-east-1')),
    hint: /The scope names the region "us-east-1"; "eu-central-1" is/,
  },
  'service of another endpoint': {
    mistake: authorization((value) => value.replace('execute-api', 's3')),
    hint: /The scope names the service "s3"; "execute-api" is expected\./,
  },
  'scope incomplete': {
    mistake: authorization((value) => value.replace('/aws4_request', '')),
    hint: /Credential must be an access key id, a date as YYYYMMDD, a/,
  },
  'SignedHeaders missing': {
    mistake: authorization((value) => value.replace(/SignedHeaders=[^,]*, /, '')),
    hint: /SignedHeaders is missing\./,
  },
  'Signature missing': {
    mistake: authorization((value) => value.replace(/, Signature=.*/, '')),
    hint: /Signature is missing\./,
  },
  'parameters separated by semicolons': {
    mistake: authorization((value) => value.replaceAll(', ', '; ')),
    hint: /SignedHeaders is missing\./,
  },
  'parameter name in another letter case': {
    mistake: authorization((value) => value.replace('SignedHeaders', 'signedheaders')),
    hint: /Credential, SignedHeaders and Signature are expected:/,
  },
  'day of the scope differs from that of the request': {
    mistake: authorization((value) => value.replace('20261122', '20261121')),
    hint: /The date of the scope, 20261121, is not the day of the request,/,
  },
  'Host not signed': {
    mistake: aws({ listed: (list) => list.replace('host;', '') }),
    hint: /SignedHeaders must contain host\./,
  },
  'list sent with upper case': {
    mistake: authorization((value) => value.replace('SignedHeaders=host', 'SignedHeaders=Host')),
    hint: /SignedHeaders must be in lower case\./,
  },
};

const signature = (mistake: MessageSignaturesMistake): MessageSignaturesMistake => mistake;
const base = (change: (text: string) => string): Mistake => ({ message: (whole) => change(whole) });

export const ofMessageSignatures: OwnMistakes = {
  'a component that is listed, but not signed': {
    mistake: base((whole) => whole.replace(/^"@path".*\n/m, '')),
    hint: /the component "@path" is listed, but was not signed/,
  },
  'components in another order': {
    mistake: base((whole) => whole.replace(/^(.*)\n(.*)\n/, '$2\n$1\n')),
    hint: /the components were signed in another order than in/,
  },
  'parameters in another order': {
    mistake: signature({
      signedParams: (params) => params.replace(/;(created=\d+);(keyid="ann")/, ';$2;$1'),
    }),
    hint: /the parameters were signed in another order than in Signature-Input/,
  },
  'one parameter not signed': {
    mistake: signature({ signedParams: (params) => params.replace(/;nonce="[^"]*"/, '') }),
    hint: /the parameter nonce is in Signature-Input, but was not signed/,
  },
  'parameters not signed': {
    mistake: signature({ signedParams: (params) => params.replace(/;.*/, '') }),
    hint: /the parameters of the signature were not signed/,
  },
  'label signed': {
    mistake: signature({ signedParams: (params) => `sig1=${params}` }),
    hint: /the label must not be a part of "@signature-params"/,
  },
  'list without parentheses': {
    mistake: signature({ signedParams: (params) => params.replace(/[()]/g, '') }),
    hint: /"@signature-params" was signed without parentheses/,
  },
  'space before each parameter': {
    mistake: signature({ signedParams: (params) => params.replaceAll(';', '; ') }),
    hint: /a space was signed before each parameter/,
  },
  'line of the parameters missing': {
    mistake: base((whole) => whole.replace(/\n"@signature-params".*$/, '')),
    hint: /the line "@signature-params" was not signed/,
  },
  'line of the parameters first': {
    mistake: base((whole) => whole.replace(/^(.*)\n(.*)$/s, '$2\n$1')),
    hint: /"@signature-params" must be the last line/,
  },
  'names without quotes': {
    mistake: base((whole) => whole.replace(/^"([^"]*)"/gm, '$1')),
    hint: /the names were signed without quotes/,
  },
  'no space after the colon': {
    mistake: base((whole) => whole.replace(/^("[^"]*":) /gm, '$1')),
    hint: /the space after each colon was not signed/,
  },
  'values signed without the names': {
    mistake: base((whole) => whole.replace(/^"@[mapq][^"]*": /gm, '')),
    hint: undefined,
  },
  'method in front of the target, as in the older draft': {
    mistake: base((whole) =>
      whole.replace('"@method": GET\n', '"(request-target)": get /things/a?limit=5\n'),
    ),
    hint: undefined,
  },
  'required component not covered': {
    mistake: signature({ components: (list) => list.slice(0, 2) }),
    hint: /add "@path", "@query" to the covered components, in/,
  },
  'field that is not sent covered': {
    mistake: signature({ components: (list) => [...list, 'x-absent'] }),
    hint: /the message has no component "x-absent"/,
  },
  'component twice': {
    mistake: signature({ components: (list) => [...list, '@path'] }),
    hint: /The component "@path" is covered twice\./,
  },
  'unknown component': {
    mistake: signature({ components: (list) => [...list, '@host'] }),
    hint: /The derived component "@host" is not known\./,
  },
  'name in upper case': {
    mistake: signature({ components: (list) => [...list, 'X-Meta'] }),
    hint: /The component "X-Meta" is not in lower case\./,
  },
  'list names itself': {
    mistake: signature({ components: (list) => [...list, '@signature-params'] }),
    hint: /"@signature-params" must not be covered\./,
  },
  'another algorithm than that of the key': {
    mistake: signature({ params: (params) => `${params};alg="ed25519"` }),
    hint: /the parameter alg is "ed25519", but the key with this id is for/,
  },
  'lifetime over before it began': {
    mistake: signature({ params: (params) => `${params};expires=1` }),
    hint: /expires is before created in the member sig1 of Signature-Input/,
  },
  'lifetime no number': {
    mistake: signature({ params: (params) => `${params};expires="soon"` }),
    hint: /expires is not an integer number of seconds in the member sig1/,
  },
  'label in one of two fields only': {
    mistake: changed('Signature', (value) => value.replace('sig1', 'sig2')),
    hint: /Signature lacks the label sig1/,
  },
  'keyid as a token': {
    mistake: signature({ params: (params) => params.replace('"ann"', 'ann') }),
    hint: /keyid is not a string in the member sig1 of Signature-Input/,
  },
  'comma at the end': {
    mistake: changed('Signature-Input', (value) => `${value},`),
    hint: /Signature-Input is not a dictionary \(RFC 9651\): a member is/,
  },
  'Signature missing': { mistake: renamed('Signature', 'X-Signature'), hint: /Signature is missing/ },
  'digest not covered': {
    mistake: signature({
      request: { method: 'POST', content: 'a', lines: [['Content-Type', 'text/plain']] },
      components: (list) => list.filter((name) => name !== 'content-digest'),
    }),
    hint: /send Content-Digest and cover it/,
  },
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
  'secret of the token left out': {
    mistake: oauth({ keyText: (secret) => `${escaped(secret)}&` }),
    hint: /the secret of the token was left out of the key/,
  },
  'secret of the consumer alone': {
    mistake: oauth({ keyText: (secret) => secret }),
    hint: /the key was the secret of the consumer alone, without "&" and/,
  },
  'separator of the secrets left out': {
    mistake: oauth({ keyText: (secret, token) => secret + token }),
    hint: /the key was used without its "&"/,
  },
  'secrets encoded as a whole': {
    mistake: oauth({ keyText: (secret, token) => escaped(`${secret}&${token}`) }),
    hint: /the key was percent-encoded as a whole/,
  },
  'secrets exchanged': {
    mistake: oauth({ keyText: (secret, token) => `${token}&${secret}` }),
    hint: /the secrets of consumer and token were swapped in the key/,
  },
  'parameters encoded once': {
    mistake: base((whole) => whole.replace(/&[^&]*$/, decodeURIComponent)),
    hint: /the parameters were encoded once instead of twice/,
  },
  'parts not percent-encoded': {
    mistake: { message: (_, parts) => parts.join('&') },
    hint: /the parts of the base string were not percent-encoded/,
  },
  'parameters not sorted': {
    mistake: oauth({
      pairs: (pairs) => asSent.flatMap((name) => pairs.filter((pair) => pair.startsWith(`${name}=`))),
    }),
    hint: /were not sorted/,
  },
  'signature parameter signed too': {
    mistake: oauth({ pairs: (pairs) => [...pairs, 'oauth_signature='].sort() }),
    hint: /oauth_signature was signed too/,
  },
  'version signed, not sent': {
    mistake: oauth({ pairs: (pairs) => [...pairs, 'oauth_version=1.0'].sort() }),
    hint: /oauth_version was signed, but not sent/,
  },
  'protocol parameter sent, but not signed': {
    mistake: oauth({ pairs: (pairs) => pairs.filter((pair) => !pair.startsWith('oauth_token=')) }),
    hint: /oauth_token was left out/,
  },
  'version not supported': {
    mistake: parameter('oauth_version', '2.0'),
    hint: /oauth_version must be 1\.0 or omitted\./,
  },
  'unknown protocol parameter': {
    mistake: parameter('oauth_singature', 'x'),
    hint: /Protocol parameters that are not supported here were sent\./,
  },
  'method not supported': {
    mistake: parameter('oauth_signature_method', 'HMAC-MD5'),
    hint: /The signature method is not supported here\./,
  },
  'method not allowed for this client': {
    mistake: parameter('oauth_signature_method', 'RSA-SHA1'),
    hint: /The signature method is not supported here\./,
  },
  'nonce missing': {
    mistake: parameter('oauth_nonce', undefined),
    hint: /These parameters are required and must not be empty:/,
  },
  'consumer missing': {
    mistake: parameter('oauth_consumer_key', undefined),
    hint: /These parameters are required and must not be empty:/,
  },
  'token unknown': {
    mistake: parameter('oauth_token', 'unknown'),
    hint: /the token is unknown, of another kind, or was deleted/,
  },
  'parameters separated by semicolons': {
    mistake: authorization((value) => value.replaceAll(', ', '; ')),
    hint: /Authorization: a comma is expected at position 27\./,
  },
  'parameters not in quotes': {
    mistake: authorization((value) => value.replaceAll('"', '')),
    hint: /Authorization: name="value" with both percent-encoded is/,
  },
  'scheme misspelt': {
    mistake: authorization((value) => value.replace('OAuth', 'OAuth1')),
    hint: /the scheme OAuth1 was sent; did you mean oauth\?/,
  },
  'hash parameter of another content': {
    mistake: parameter('oauth_body_hash', computeHash('sha1', 'other').toString('base64')),
    hint: /oauth_body_hash does not match the content\./,
  },
  'field sent twice': {
    mistake: { sent: (sent) => withLine(sent, 'Authorization', 'OAuth realm="x"') },
    hint: /Send one Authorization or Authentication field, once\./,
  },
};
