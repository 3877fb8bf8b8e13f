import type { Changes, IssuedCode, OAuthFlow } from './flow.ts';
import { mustBeRefused, type OAuthCase, refusedBefore } from './report.ts';

/** Returns attempts with missing or wrong proof keys (RFC 7636). */
export function pkceCases(flow: OAuthFlow): OAuthCase[] {
  const cases = [...tryWrongVerifiers(flow), ...tryPlainChallenges(flow)];
  return flow.client.secret === undefined ? [...cases, omitPkce(flow)] : cases;
}

function tryWrongVerifiers(flow: OAuthFlow): OAuthCase[] {
  const unknown = 'Only the client that requested the code knows the verifier (RFC 7636 §4.6).';
  const verifiers: readonly [
    name: string,
    why: string,
    verifier: (code: IssuedCode) => string | undefined,
  ][] = [
    ['the verifier is another one', unknown, ({ verifier }) => [...verifier].reverse().join('')],
    ['the verifier is missing', unknown, () => undefined],
    ['the verifier is empty', unknown, () => ''],
    [
      'the verifier is the challenge',
      'The challenge is in the URL of the authorization request, and its method was S256.',
      ({ challenge }) => challenge,
    ],
  ];
  return verifiers.map(([name, why, verifierOf]) => ({
    name,
    why,
    async run() {
      const code = await flow.code();
      return mustBeRefused(await flow.exchange(code, { code_verifier: verifierOf(code) }));
    },
  }));
}

function tryPlainChallenges(flow: OAuthFlow): OAuthCase[] {
  const plain =
    'A plain challenge shows the verifier in the URL of the authorization request (RFC 9700 §2.1.1).';
  const downgrade = 'An attacker could remove the challenge from an authorization request (RFC 9700 §4.8.2).';
  const requests: readonly [name: string, why: string, changes: (verifier: string) => Changes][] = [
    [
      'the challenge is plain',
      plain,
      (verifier) => ({ code_challenge: verifier, code_challenge_method: 'plain' }),
    ],
    [
      'the challenge is plain, and has no method',
      plain,
      (verifier) => ({ code_challenge: verifier, code_challenge_method: undefined }),
    ],
    ['a verifier is sent for a code without a challenge', downgrade, () => withoutChallenge],
  ];
  return requests.map(([name, why, changes]) => ({
    name,
    why,
    async run() {
      const code = await flow.codeUnlessRefused((_challenge, verifier) => changes(verifier));
      return code === undefined ? refusedBefore : mustBeRefused(await flow.exchange(code));
    },
  }));
}

const withoutChallenge: Changes = { code_challenge: undefined, code_challenge_method: undefined };

function omitPkce(flow: OAuthFlow): OAuthCase {
  return {
    name: 'there is neither a challenge nor a verifier',
    why: 'A public client has no other protection against a stolen code (RFC 9700 §2.1.1).',
    async run() {
      const code = await flow.codeUnlessRefused(() => withoutChallenge);
      return code === undefined
        ? refusedBefore
        : mustBeRefused(await flow.exchange(code, { code_verifier: undefined }));
    },
  };
}
