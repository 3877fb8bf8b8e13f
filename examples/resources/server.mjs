import { createService } from 'countersign';
import { createNotes } from './notes.mjs';

const service = createService({
  users: { johndoe: { secret: 's3cret' } },
  resources: { '/notes/{user}': createNotes() },
});
const { url } = await service.listen({ port: Number(process.env.PORT ?? 8080) });
console.log(`${url}/notes/johndoe`);
process.once('SIGTERM', () => service.close());
process.once('SIGINT', () => service.close());
