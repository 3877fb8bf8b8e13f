// What a person does in a browser, for who has none: asks for the page with Basic, and answers by its ticket.
export const user = process.env.USER_NAME;
const basic = `Basic ${Buffer.from(`${user}:${process.env.USER_PASSWORD}`).toString('base64')}`;

/** Answers the request for authorization at this URL, and gives where the browser is sent then. */
export async function approve(url, decision = 'allow') {
  const page = await fetch(url, {
    headers: { Authorization: basic, Accept: 'application/json' },
    redirect: 'manual',
  });
  if (page.status !== 200) throw new Error(`no consent is asked for: ${page.status} ${await page.text()}`);
  const { consent_ticket } = await page.json();
  const answer = await fetch(new URL(url).origin + new URL(url).pathname, {
    method: 'POST',
    headers: { Authorization: basic },
    body: new URLSearchParams({ consent_ticket, decision }),
    redirect: 'manual',
  });
  if (answer.status !== 303) throw new Error(`the answer is ${answer.status} ${await answer.text()}`);
  return new URL(answer.headers.get('location'));
}

/** The user's own resource with these field lines, and what comes of it. */
export async function resource(headers, method = 'GET') {
  const response = await fetch(`${process.env.BASE}/users/${user}/financialrecords`, { method, headers });
  return response.status;
}

const done = [];

/** Notes a step as done, where it came to what was expected. */
export function step(name, actual, expected = true) {
  if (actual !== expected)
    throw new Error(`${name}: ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
  done.push(name);
}

process.on('exit', (code) => {
  if (code === 0) console.log(JSON.stringify(done));
});
