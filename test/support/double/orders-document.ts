/** A small document of OpenAPI 3.0 with all that the tests of a partner need. */
export function ordersDocument() {
  const order = { $ref: '#/components/schemas/Order' };
  const json = (schema: object, more: object = {}) => ({ 'application/json': { schema, ...more } });
  return {
    openapi: '3.0.3',
    info: { title: 'Orders', version: '1' },
    servers: [{ url: 'https://api.example.com/v1' }],
    security: [{ key: [] }],
    paths: {
      '/orders': {
        get: {
          operationId: 'listOrders',
          parameters: [
            { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100 } },
            { name: 'state', in: 'query', schema: { type: 'array', items: { enum: ['open', 'paid'] } } },
            {
              name: 'filter',
              in: 'query',
              style: 'deepObject',
              schema: { $ref: '#/components/schemas/Filter' },
            },
            { name: 'X-Trace', in: 'header', schema: { type: 'string', format: 'uuid' } },
          ],
          responses: {
            200: { description: 'Orders', content: json({ type: 'array', minItems: 1, items: order }) },
          },
        },
        post: {
          operationId: 'createOrder',
          security: [{ token: ['orders:write'] }, { key: [] }],
          requestBody: { required: true, content: json({ $ref: '#/components/schemas/NewOrder' }) },
          responses: {
            201: {
              description: 'Created',
              headers: { Location: { schema: { type: 'string', example: '/orders/ord_1' } } },
              content: json(order),
            },
            409: {
              description: 'Conflict',
              content: json(
                { type: 'object' },
                { examples: { taken: { value: { code: 'taken' } }, closed: { value: { code: 'closed' } } } },
              ),
            },
          },
        },
      },
      '/orders/{order-id}': {
        parameters: [
          {
            name: 'order-id',
            in: 'path',
            required: true,
            schema: { type: 'string', pattern: '^ord_[0-9]+$' },
          },
        ],
        get: {
          operationId: 'getOrder',
          security: [],
          responses: { 200: { description: 'Order', content: json(order) }, 404: { description: 'None' } },
        },
      },
      '/reports/{from}..{to}.csv': {
        get: {
          security: [{}],
          parameters: ['from', 'to'].map((name) => ({
            name,
            in: 'path',
            required: true,
            schema: { type: 'string', format: 'date' },
          })),
          responses: { 200: { description: 'Report', content: { 'text/csv': { example: 'day,total\n' } } } },
        },
      },
    },
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        token: {
          type: 'oauth2',
          flows: {
            clientCredentials: {
              tokenUrl: 'https://login.example.com/connect/token',
              scopes: { 'orders:read': 'read', 'orders:write': 'write' },
            },
          },
        },
      },
      schemas: {
        Order: {
          type: 'object',
          required: ['id', 'total', 'createdAt'],
          properties: {
            id: { type: 'string', pattern: '^ord_[0-9]+$' },
            total: { type: 'integer', minimum: 1 },
            createdAt: { type: 'string', format: 'date-time' },
            note: { type: 'string', nullable: true },
            replaces: { $ref: '#/components/schemas/Order' },
          },
        },
        NewOrder: {
          type: 'object',
          additionalProperties: false,
          required: ['id', 'sku', 'payment'],
          properties: {
            id: { type: 'string', readOnly: true },
            sku: { type: 'string', minLength: 1 },
            count: { type: 'integer', minimum: 1 },
            payment: {
              oneOf: [{ $ref: '#/components/schemas/Card' }, { $ref: '#/components/schemas/Transfer' }],
              discriminator: { propertyName: 'kind', mapping: { card: '#/components/schemas/Card' } },
            },
          },
        },
        Card: {
          type: 'object',
          required: ['kind', 'number'],
          properties: { kind: { type: 'string' }, number: { type: 'string', writeOnly: true } },
        },
        Transfer: { type: 'object', required: ['kind'], properties: { kind: { enum: ['Transfer'] } } },
        Filter: { type: 'object', properties: { paid: { type: 'boolean' } }, additionalProperties: false },
      },
    },
  };
}
