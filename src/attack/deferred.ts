import * as attacks from './adversary.ts';

// These are functions and not re-exports, so that an entry that exports them does not load what they call.

/** Prepares forged requests from a valid request and its signer. See `AdversaryOptions`. */
export const createAttempts: typeof attacks.adversary = (...parameters) => attacks.adversary(...parameters);

/** Sends attempts to a server and reports which of them it accepted. See `AttackOptions`. */
export const attack: typeof attacks.attack = (...parameters) => attacks.attack(...parameters);

/** Creates a signer of Basic (RFC 7617). */
export const basicSigner: typeof attacks.basicSigner = (credentials) => attacks.basicSigner(credentials);

/** Creates a signer that sends a bearer token (RFC 6750). */
export const bearerSigner: typeof attacks.bearerSigner = (credentials) => attacks.bearerSigner(credentials);

/** Creates a signer of the scheme `hmac`. See `HmacSignerOptions`. */
export const hmacSigner: typeof attacks.hmacSigner = (options) => attacks.hmacSigner(options);

/** Creates a signer of OAuth 1.0a (RFC 5849). */
export const oauth1Signer: typeof attacks.oauth1Signer = (credentials) => attacks.oauth1Signer(credentials);
