import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { accessToken, callback, openTestService, sign } from './consumer.ts';
import type { Answer, Server } from './server.ts';

/**
 * A bad request: what is wrong with it, how it is sent, and its outcome: the status, the problem, and the parameters that the
 * problem is about.
 */
export type Case = readonly [wrong: string, send: (server: Server) => Promise<Answer>, outcome: string];

export const records = '/users/ann/financialrecords';

/** What the challenge of OAuth 1.0a reports, by name and decoded. */
function reported(answer: Answer): Map<string, string> {
  const challenge = /(?:^|, )(OAuth .*)$/.exec(answer.field('WWW-Authenticate'))?.[1] ?? '';
  const pairs = [...challenge.matchAll(/(oauth_[a-z_]+)="([^"]*)"/g)];
  return new Map(pairs.map(([, name = '', value = '']) => [name, decodeURIComponent(value)]));
}

function oauth1Outcome(answer: Answer): string {
  const report = reported(answer);
  const names = report.get('oauth_parameters_absent') ?? report.get('oauth_parameters_rejected');
  const problem = report.get('oauth_problem') ?? /\/problems\/([a-z0-9-]+)/.exec(answer.text)?.[1] ?? 'page';
  return [answer.status, problem, names].filter((part) => part !== undefined).join(' ');
}

/** What comes with every refusal in words of OAuth 1.0a, whatever was wrong. */
function checkForm(answer: Answer, atEndpoint: boolean): void {
  const report = reported(answer);
  const problem = report.get('oauth_problem');
  if (problem === undefined) return;
  assert.match(answer.field('WWW-Authenticate'), /OAuth realm="Countersign", oauth_problem="[a-z_]+"/);
  if (atEndpoint) {
    assert.equal(answer.field('Content-Type'), 'application/x-www-form-urlencoded');
    assert.deepEqual(new Map(new URLSearchParams(answer.text)), report, 'body and field report the same');
  } else assert.match(answer.text, /\/problems\/(oauth1-[a-z-]+|insufficient-scope|several-credentials)/);
  const fixed = answer.status === 400 && !atEndpoint;
  if (!fixed) assert.equal(answer.field('Cache-Control'), 'no-store');
}

/** Makes a test of each case: the answer has that outcome, and is in the form in which OAuth 1.0a refuses. */
export function refuses(
  what: string,
  atEndpoint: boolean,
  cases: readonly Case[],
  open = openTestService,
): void {
  describe(what, () => {
    for (const [wrong, send, outcome] of cases) {
      test(`${wrong}: ${outcome}`, async () => {
        const answer = await send(open());
        assert.equal(oauth1Outcome(answer), outcome);
        checkForm(answer, atEndpoint);
      });
    }
  });
}

/** Sends a request whose Authorization is edited after it was signed: to the endpoint of request tokens, or to `target`. */
export const edited =
  (edit: (field: string) => string, target = '/oauth1/request_token') =>
  async (server: Server): Promise<Answer> => {
    const token = target === records ? await accessToken(server) : undefined;
    const method = target === records ? 'GET' : 'POST';
    const protocol: Record<string, string> = target === records ? {} : { oauth_callback: callback };
    const { sending } = sign(server, { target, method, token, protocol });
    const fields = (sending.fields ?? []).map(([name, value]) => [name, edit(value)] as const);
    return server.ask(method, target, { ...sending, fields });
  };
