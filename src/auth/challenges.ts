import type { FieldLine } from '../http/fields.ts';
import { parseCredentials } from '../http/headers/authorization.ts';
import { type Connection, type IncomingRequest, isConfidential } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { type AcceptedSchemes, isAccepted, type Verifier } from './verifier.ts';

/** Formats the challenges of schemes. */
export class Challenges {
  readonly #schemes: readonly Verifier[];

  constructor(schemes: readonly Verifier[]) {
    this.#schemes = schemes;
  }

  /**
   * Returns `WWW-Authenticate` with the challenge of each scheme that is offered on a connection, and further fields of the schemes.
   *
   * @param accepted The schemes that the resource accepts. Default: all.
   * @param refusing The scheme that refuses a request, whose challenge `own` replaces the usual one, if it is given.
   */
  offer(
    connection: Connection,
    accepted: AcceptedSchemes | undefined,
    refusing?: Verifier,
    own?: string,
  ): FieldLine[] {
    const offered = this.#schemes.filter((scheme) => isAccepted(scheme, accepted));
    const challenges = offered.map((scheme) =>
      scheme === refusing && own !== undefined ? own : scheme.challenge(connection),
    );
    return [
      ...joinChallenges(challenges),
      ...offered.flatMap((scheme) => scheme.challengeFields?.(connection) ?? []),
    ];
  }

  /**
   * Returns the Problem for several credentials, with the challenges of their schemes; without challenges over plain HTTP.
   *
   * @param located The schemes with credentials outside Authorization.
   */
  refuseSeveral(
    { headers: fields, connection }: IncomingRequest,
    located: readonly Verifier[] = [],
  ): Problem {
    const lines = [...fields.getAll('authorization'), ...fields.getAll('authentication')];
    const names = new Set(lines.map((line) => parseCredentials(line)?.scheme));
    const sent = this.#schemes.filter((scheme) => names.has(scheme.name) || located.includes(scheme));
    const detail =
      located.length > 0
        ? 'The request has credentials of several schemes. Send those of one.'
        : 'Send one Authorization or Authentication field, once.';
    return new Problem('several-credentials', detail, {
      headers: isConfidential(connection)
        ? joinChallenges(sent.map((scheme) => scheme.severalChallenge?.()))
        : [],
    });
  }
}

/**
 * Returns the challenges in one field line (RFC 9110 §11.6.1), because some clients read only the first line; no line if there
 * are none.
 */
function joinChallenges(challenges: readonly (string | undefined)[]): FieldLine[] {
  const present = challenges.filter((challenge) => challenge !== undefined);
  return present.length === 0 ? [] : [['WWW-Authenticate', present.join(', ')]];
}
