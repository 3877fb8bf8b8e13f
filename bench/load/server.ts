/**
 * A server to be measured, in a process of its own: `bare` node:http with a reply that is given to it, or `countersign`
 * in memory. Prints its port when it listens; ends with its standard input.
 */
import { createServer } from 'node:http';
import { createService } from '../../src/index.ts';

const [, , name = '', given = '{}'] = process.argv;
process.stdin.resume().once('end', () => process.exit(0));

if (name === 'bare') {
  const { fields, content }: { fields: string[]; content: string } = JSON.parse(given);
  const server = createServer((_, response) => {
    response.writeHead(200, fields);
    response.end(content);
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    console.log(typeof address === 'object' ? address?.port : address);
  });
} else {
  const service = createService({
    users: { demo: { secret: given } },
    seed: { '/articles': [{ title: 'Green tea', price: { value: '12.30', currency: 'EUR' } }] },
    maxAuthFailures: 0,
  });
  const { port } = await service.listen({ port: 0 });
  console.log(port);
}
// How much processor time it took so far, in microseconds.
process.on('SIGUSR2', () => {
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ cpu: user + system }));
});
