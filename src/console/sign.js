const utf8 = new TextEncoder();

/** The parameters of WebCrypto for each algorithm of RFC 9421 §3.3. */
const algorithms = {
	'hmac-sha256': { name: 'HMAC', hash: 'SHA-256' },
	ed25519: { name: 'Ed25519' },
	'ecdsa-p256-sha256': { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
	'ecdsa-p384-sha384': { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
	'rsa-pss-sha512': { name: 'RSA-PSS', hash: 'SHA-512', saltLength: 64 },
	'rsa-v1_5-sha256': { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
};
export const algorithmNames = Object.keys(algorithms);

/** The mistakes that a request with each scheme can have. */
export const mistakesOf = {
	none: [],
	hmac: ['query', 'date', 'nonce', 'digest', 'user'],
	simple: ['query', 'digest', 'user'],
	'message-signatures': ['query', 'date', 'nonce', 'digest', 'user'],
	basic: ['digest', 'user'],
	bearer: ['digest'],
	oauth1: ['query', 'date', 'nonce', 'digest'],
};

/** The ms by which the mistake `date` makes a date too old. */
const age = 7_200_000;

/**
 * Signs a request in the browser.
 *
 * @param {any} request method, target, fields (pairs), content, host, secure
 * @param {any} signer scheme, name (of the user or key), algorithm, key (a secret, a password, a token or a private key), nonce, time (ms)
 * @param {any} mistakes the deliberate ones, by name
 * @returns {Promise<any>} the fields to add, and the text that was signed
 */
export async function sign(request, signer, mistakes) {
	const { content, fields } = request;
	const isGiven = fields.some(([name]) => name.toLowerCase() === 'content-digest');
	const isSigned = ['hmac', 'simple', 'message-signatures'].includes(signer.scheme);
	const added = content !== '' && isSigned && !isGiven ? [['Content-Digest', await digestOf(content)]] : [];
	const target = mistakes.query ? request.target.replace(/\?.*/s, '') : request.target;
	const altered = { ...request, target, fields: [...fields, ...added] };
	const dated = { ...signer, time: dateOf(signer.time, mistakes) };
	const signed = await signers[signer.scheme](altered, dated, (text) => (mistakes.digest ? flipped(text) : text));
	return { fields: [...added, ...signed.fields], text: signed.text };
}

/** Returns the time that a signature states, in ms. */
export function dateOf(time, { date }) {
	return date ? time - age : time;
}

/** Returns base64 with another first character. */
export function flipped(text) {
	return (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
}

/** Returns a new nonce. */
export function newNonce() {
	return base64(crypto.getRandomValues(new Uint8Array(12))).replace(/[+/]/g, '.');
}

const signers = {
	none: async () => ({ fields: [], text: undefined }),
	hmac: byHmac,
	simple: byHmac,
	'message-signatures': byMessageSignature,
	basic: async (_, { name, key }, spoil) => ({
		fields: [['Authorization', `Basic ${spoil(base64(utf8.encode(`${name}:${key}`)))}`]],
	}),
	bearer: async (_, { key }, spoil) => ({ fields: [['Authorization', `Bearer ${spoil(key)}`]] }),
};

async function byHmac({ method, target, fields }, { scheme, name, key, nonce, time }, spoil) {
	const isFull = scheme === 'hmac';
	const date = new Date(time).toUTCString();
	const digest = fieldOf(fields, 'content-digest');
	const parts = [method, target, ...(isFull ? [date.replaceAll(' ', ''), nonce] : []), ...(digest ? [digest] : [])];
	const text = parts.join('+');
	const proof = spoil(await signatureOf('hmac-sha256', key, text));
	const credentials = isFull ? `${name}:${nonce}:${proof}` : `${name}:${proof}`;
	return { fields: [...(isFull ? [['Date', date]] : []), ['Authorization', `hmac ${credentials}`]], text };
}

/** Signs as RFC 9421 §2.5 specifies, and covers method, authority, path, query and the digest of content. */
async function byMessageSignature(request, { name, algorithm, key, nonce, time }, spoil) {
	const { method, target, fields, host, secure } = request;
	const [path, query = ''] = target.split(/\?(.*)/s);
	const authority = (fieldOf(fields, 'host') ?? host).toLowerCase().replace(secure ? /:443$/ : /:80$/, '');
	const digest = fieldOf(fields, 'content-digest');
	const covered = [
		['@method', method],
		['@authority', authority],
		['@path', path],
		['@query', `?${query}`],
		...(digest ? [['content-digest', digest]] : []),
	];
	const quoted = (text) => `"${text.replace(/["\\]/g, '\\$&')}"`;
	const names = covered.map(([each]) => quoted(each)).join(' ');
	const parameters = `(${names});created=${Math.floor(time / 1000)};nonce=${quoted(nonce)};keyid=${quoted(name)}`;
	const lines = [...covered, ['@signature-params', parameters]].map(([each, value]) => `"${each}": ${value}`);
	const text = lines.join('\n');
	const proof = spoil(await signatureOf(algorithm, key, text));
	const signature = [
		['Signature-Input', `sig1=${parameters}`],
		['Signature', `sig1=:${proof}:`],
	];
	return { fields: signature, text };
}

function fieldOf(fields, sought) {
	return fields.find(([name]) => name.toLowerCase() === sought)?.[1];
}

async function digestOf(content) {
	return `sha-256=:${base64(await crypto.subtle.digest('SHA-256', utf8.encode(content)))}:`;
}

async function signatureOf(algorithm, key, text) {
	if (key === '') throw new Error('A key is required to sign.');
	const parameters = algorithms[algorithm];
	return base64(await crypto.subtle.sign(parameters, await importKey(parameters, key), utf8.encode(text)));
}

/** Imports a secret, or a private key in PEM (PKCS #8) or as a JWK. */
function importKey(parameters, text) {
	const imported = (format, key) => crypto.subtle.importKey(format, key, parameters, false, ['sign']);
	if (parameters.name === 'HMAC') return imported('raw', utf8.encode(text));
	if (text.trim().startsWith('{')) {
		const { kty, crv, x, y, d, n, e, p, q, dp, dq, qi } = JSON.parse(text);
		return imported('jwk', JSON.parse(JSON.stringify({ kty, crv, x, y, d, n, e, p, q, dp, dq, qi })));
	}
	const pem = /-----BEGIN PRIVATE KEY-----([\s\S]*)-----END/.exec(text)?.[1];
	if (pem === undefined) throw new Error('A private key is expected, in PEM (BEGIN PRIVATE KEY) or as a JWK.');
	return imported(
		'pkcs8',
		Uint8Array.from(atob(pem.replace(/\s/g, '')), (octet) => octet.charCodeAt(0)),
	);
}

function base64(bytes) {
	return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}
