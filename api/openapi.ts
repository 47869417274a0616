import { createHash } from 'node:crypto';
import Joi from 'joi';
import { isNotModified } from './etag.ts';
import { FILE_PART } from './form/form.ts';
import { querySchema } from './middleware/validate.ts';
import { ERROR_SCHEMA, errorResponses } from './openapi/error-responses.ts';
import { jsonSchema, type JsonSchema } from './openapi/joi-to-schema.ts';
import { isPublic, type AnyRoute, type PublicRoute, type RouteSpec } from './route.ts';
import { VERSION } from './version.ts';

type Replies = AnyRoute['replies'];

/** OpenAPI 3.1 of every mounted `/v1` route, made from the same data that guards it. */
export function openApiDocument(routes: readonly AnyRoute[]): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of routes.filter((one) => one.path.startsWith('/v1/'))) {
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Oncepost', version: VERSION, description: 'Social publishing that never posts twice, never loses a post and never guesses.' },
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'An API key: svc_live_… or svc_test_…' } },
      schemas: { Error: ERROR_SCHEMA },
    },
  };
}

export function documentRoute(routes: readonly AnyRoute[]): PublicRoute {
  let made: { document: JsonSchema; etag: string } | undefined;
  return {
    public: true, method: 'GET', path: '/openapi.json', operationId: 'getOpenApi', summary: 'This service as OpenAPI 3.1', tag: 'meta',
    replies: { 200: { description: 'The document.', schema: Joi.object().unknown(true), headers: ['ETag'] }, 304: { description: 'Unchanged.' } },
    async handler(call) {
      made ??= withEtag(openApiDocument(routes));
      const headers = { ETag: made.etag, 'Cache-Control': 'public, max-age=300' };
      return isNotModified(call.headers['if-none-match'], made.etag) ? { status: 304, headers } : { status: 200, body: made.document, headers };
    },
  };
}

function withEtag(document: JsonSchema): { document: JsonSchema; etag: string } {
  return { document, etag: `"${createHash('sha256').update(JSON.stringify(document)).digest('hex').slice(0, 32)}"` };
}

function operationOf(route: AnyRoute): JsonSchema {
  const common = { operationId: route.operationId, summary: route.summary, tags: [route.tag] };
  if (isPublic(route)) return { ...common, security: [], responses: successResponses(route.replies) };
  return {
    ...common,
    'x-permission': route.permission,
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)],
    ...requestBody(route),
    responses: { ...successResponses(route.replies), ...errorResponses(route) },
  };
}

function requestBody(route: RouteSpec): JsonSchema {
  if (route.multipart !== undefined) return { requestBody: { required: true, content: { 'multipart/form-data': { schema: formSchema(route) } } } };
  if (route.body === undefined) return {};
  const schema = jsonSchema(route.body.describe(), 'request');
  const needsSomething = schema.required !== undefined || schema.anyOf !== undefined;
  return { requestBody: { required: needsSomething, content: { 'application/json': { schema } } } };
}

function formSchema(route: RouteSpec): JsonSchema {
  const { properties = {} } = jsonSchema(querySchema(route).describe(), 'request') as { properties?: Record<string, JsonSchema> };
  const file = { type: 'string', contentMediaType: 'application/octet-stream', description: `At most ${route.multipart!.fileMaxBytes} bytes.` };
  return { type: 'object', required: [FILE_PART], properties: { [FILE_PART]: file, ...properties } };
}

function pathParameters(route: RouteSpec): JsonSchema[] {
  return [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    const prefix = route.pathIds?.[name!]?.prefix;
    return { name, in: 'path', required: true, schema: { type: 'string', ...(prefix === undefined ? {} : { pattern: `^${prefix}[0-9a-f]{32}$` }) } };
  });
}

function queryParameters(route: RouteSpec): JsonSchema[] {
  const keys = (querySchema(route).describe().keys ?? {}) as Record<string, Joi.Description>;
  return Object.entries(keys).map(([name, description]) => {
    const { description: text, ...schema } = jsonSchema(description, 'request');
    const isRequired = (description.flags as { presence?: string } | undefined)?.presence === 'required';
    return { name, in: 'query', required: isRequired, schema, ...(text === undefined ? {} : { description: text }), ...(description.type === 'array' ? { style: 'form', explode: false } : {}) };
  });
}

/** Only what has an ETag is changed by it. */
function headerParameters(route: RouteSpec): JsonSchema[] {
  const answered = new Set(Object.values(route.replies).flatMap((reply) => reply.headers ?? []));
  return [
    ...(route.method === 'GET' || route.idempotencyKey === 'ignored' ? [] : [{ name: 'Idempotency-Key', in: 'header', required: route.idempotencyKey === 'required', schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{8,255}$' } }]),
    ...(route.wait === undefined ? [] : [{ name: 'Prefer', in: 'header', required: false, schema: { type: 'string' }, description: `wait=<seconds>, 0 to ${route.wait.maxSeconds}: the reply waits until the work has ended, at most so long. Absent: ${route.wait.defaultSeconds}.` }]),
    ...(route.method === 'PATCH' && answered.has('ETag') ? [{ name: 'If-Match', in: 'header', required: false, schema: { type: 'string', pattern: String.raw`^(\*|"[0-9]+")$` }, description: 'The ETag that was read; a resource changed since answers 409.' }] : []),
  ];
}

function successResponses(replies: Replies): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(replies).map(([status, reply]) => [status, {
    description: reply.description,
    ...(reply.headers === undefined ? {} : { headers: Object.fromEntries(reply.headers.map((name) => [name, { schema: { type: 'string' } }])) }),
    ...(reply.schema === undefined ? {} : { content: { 'application/json': { schema: jsonSchema(reply.schema.describe(), 'reply') } } }),
  }]));
}
