import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openApiDocument } from '../../api/openapi.ts';
import { isPublic } from '../../api/route.ts';
import { ROUTES } from '../../api/routes.ts';
import { ERRORS } from '../../infra/contract/errors.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let document: any;

beforeAll(async () => {
  api = await startApi();
  document = (await api.send('GET', '/openapi.json')).body;
});
afterAll(() => api.close());

describe('GET /openapi.json', () => {
  test('names every mounted /v1 route, and every route it names is mounted', async () => {
    const named = Object.entries(document.paths).flatMap(([path, methods]) => Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`));
    expect(named.toSorted()).toEqual(ROUTES.filter((route) => route.path.startsWith('/v1/')).map((route) => `${route.method} ${route.path}`).toSorted());
    for (const one of named) {
      const [method, path] = one.split(' ') as [string, string];
      const answer = await api.send(method, path.replaceAll(/\{\w+\}/g, 'x'));
      expect([one, answer.status]).toEqual([one, 401]);
    }
  });

  test('names the headers that a route reads', () => {
    const headersOf = (path: string, method: string): string[] => document.paths[path][method].parameters.filter((one: any) => one.in === 'header').map((one: any) => one.name);
    expect(headersOf('/v1/posts', 'post')).toEqual(['Idempotency-Key', 'Prefer']);
    expect(headersOf('/v1/posts/{id}', 'patch')).toEqual(['Idempotency-Key', 'Prefer', 'If-Match']);
    expect(headersOf('/v1/posts/{id}', 'get')).toEqual([]);
  });

  test('is OpenAPI 3.1 of version 1.0.0 with the bearer scheme', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toBe('1.0.0');
    expect(document.components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' });
    expect(document.security).toEqual([{ bearer: [] }]);
  });

  test('operation ids are unique, every path parameter is declared, every reference resolves', () => {
    const operations = Object.entries(document.paths as Record<string, Record<string, any>>).flatMap(([path, methods]) => Object.values(methods).map((operation) => ({ path, operation })));
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
    for (const { path, operation } of operations) {
      const declared = operation.parameters.filter((one: any) => one.in === 'path').map((one: any) => `{${one.name}}`);
      expect(path.match(/\{\w+\}/g) ?? []).toEqual(declared);
    }
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!);
    for (const reference of references) expect(reference.split('/').reduce((holder: any, part) => holder?.[part], document)).toBeDefined();
  });

  test('lists the errors of each route under their statuses', () => {
    const list = document.paths['/v1/accounts'].get.responses;
    expect(list['400'].description).toContain('INVALID_CURSOR');
    expect(list['403'].description).toContain('WORKSPACE_ACCESS_DENIED');
    expect(list['422'].description).toContain('VALIDATION_ERROR');
    for (const route of ROUTES) if (!isPublic(route)) for (const code of route.errors) expect(Object.keys(ERRORS)).toContain(code);
  });

  test('schemas say what joi says', () => {
    const operation = document.paths['/v1/accounts'].get;
    const parameter = (name: string) => operation.parameters.find((one: any) => one.name === name).schema;
    expect(parameter('limit')).toEqual({ type: 'integer', minimum: 1, maximum: 100, default: 20 });
    expect(parameter('from')).toMatchObject({ type: 'string', format: 'date-time' });
    expect(parameter('platforms').items.enum).toContain('mastodon');
    const page = operation.responses['200'].content['application/json'].schema;
    expect(page.required).toEqual(['data', 'next_cursor', 'has_more', 'total']);
    expect(page.properties.data.items.properties.username).toEqual({ type: ['string', 'null'], minLength: 1 });
    const patch = document.paths['/v1/accounts/{id}'].patch.requestBody;
    expect(patch).toMatchObject({ required: false, content: { 'application/json': { schema: { additionalProperties: false } } } });
  });

  const bodyOf = (path: string, method = 'post') => document.paths[path][method].requestBody;
  const schemaOf = (path: string) => bodyOf(path).content['application/json'].schema;

  test('an option that is refused whatever it is takes null and nothing else', () => {
    const { target_options: options } = schemaOf('/v1/posts').properties;
    const [, ofWorkspace] = options.additionalProperties.anyOf;
    for (const { properties } of [options.properties.twitter, options.properties.mastodon, ofWorkspace]) {
      for (const name of ['publish_at', 'scheduled_publish_time', 'reel_scheduled_publish_time', 'scheduled_at']) expect(properties[name].type).toBe('null');
      expect([properties.published.enum, properties.reel_state.enum]).toEqual([[true, null], ['PUBLISHED', null]]);
    }
  });

  test('no member of a body takes anything whatever', () => {
    const takers = (schema: any, place: string): string[] => (schema === null || typeof schema !== 'object' ? [] : Object.entries<any>(schema).flatMap(([name, value]) => {
      const isOpen = value !== null && typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length === 0;
      return isOpen ? [`${place}/${name}`] : takers(value, `${place}/${name}`);
    }));
    const bodies = Object.entries<any>(document.paths).flatMap(([path, methods]) => Object.values<any>(methods).flatMap(({ requestBody }) => takers(requestBody?.content, path)));
    expect(bodies).toEqual([]);
  });

  test('what a body needs only without another member, or beside one, is said', () => {
    expect(schemaOf('/v1/posts/preflight').anyOf).toEqual([{ properties: { post_id: { type: 'string', minLength: 1 } }, required: ['post_id'] }, { required: ['targets', 'scheduled_at'] }]);
    expect([bodyOf('/v1/posts/preflight').required, schemaOf('/v1/posts/preflight').required]).toEqual([true, undefined]);
    expect(schemaOf('/v1/posts/{id}/targets/{target_id}/reconcile').allOf).toEqual([
      { anyOf: [{ properties: { outcome: { not: { enum: ['succeeded'] } } } }, { required: ['provider_post_id'] }] },
      { anyOf: [{ properties: { outcome: { not: { enum: ['failed'] } } } }, { required: ['error_code', 'error_message'] }] },
    ]);
  });

  test('an unknown error code in a route does not go unnoticed', () => {
    const [route] = ROUTES;
    expect(() => openApiDocument([{ ...route!, errors: ['NO_SUCH_CODE'] } as never])).toThrow(/NO_SUCH_CODE/);
  });

  test('has an ETag, and is 304 while it is the same', async () => {
    const first = await api.send('GET', '/openapi.json');
    const etag = first.headers.get('etag')!;
    expect([first.headers.get('cache-control'), first.headers.get('access-control-allow-origin')]).toEqual(['public, max-age=300', '*']);
    for (const header of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const answer = await api.send('GET', '/openapi.json', { headers: { 'if-none-match': header } });
      expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', etag]);
    }
    expect((await api.send('GET', '/openapi.json', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });
});
