const { withDouble } = require('countersign/double');
const { XmlClient } = require('./xml-client.cjs');

const options = { users: { johndoe: { secret: 's3cret' } } };
const connect = (double, secret = 's3cret') => new XmlClient({ url: double.url, user: 'johndoe', secret });

test(
  'adds an article',
  withDouble(options, async (double) => {
    expect(await connect(double).add('Green tea', '12.30')).toMatchObject({ path: '/articles/1' });
  }),
);

test.each(['1.50', '2.50'])(
  'puts an article for %s',
  withDouble(options, async (double, price) => {
    expect(await connect(double).put('/articles/tea', 'Green tea', price)).toBe(201);
  }),
);

test('a failure contains the refused requests', async () => {
  const failing = withDouble(options, async (double) => {
    const status = await connect(double, 'another')
      .put('/articles/tea', 'Green tea', '1.50')
      .catch(() => 0);
    expect(status).toBe(201);
  });
  await expect(failing()).rejects.toThrow(/The double refused:\n#1 PUT \/articles\/tea by johndoe: 401/);
});
