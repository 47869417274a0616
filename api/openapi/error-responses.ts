import { ERRORS, type ErrorCode } from '../../infra/contract/errors.ts';
import type { RouteSpec } from '../route.ts';
import type { JsonSchema } from './joi-to-schema.ts';

export const ERROR_SCHEMA: JsonSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', description: 'Clients branch on this.' },
        message: { type: 'string', description: 'For people. May change.' },
        details: {
          type: 'object',
          properties: {
            issues: {
              type: 'array',
              items: {
                type: 'object',
                required: ['code', 'message', 'path'],
                properties: {
                  code: { type: 'string' }, message: { type: 'string' }, path: { type: 'array', items: { type: ['string', 'integer'] } },
                  in: { enum: ['body', 'query', 'path', 'header'] },
                },
              },
            },
            issue_count: { type: 'integer' },
            request_id: { type: 'string' },
          },
        },
      },
    },
  },
};

const OF_EVERY_ROUTE: ErrorCode[] = ['BAD_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMITED', 'URI_TOO_LONG', 'HEADERS_TOO_LARGE', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'];
const OF_MUTATIONS: ErrorCode[] = [
  'VALIDATION_ERROR', 'INVALID_IDEMPOTENCY_KEY', 'IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED', 'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE', 'UNSUPPORTED_CONTENT_ENCODING', 'REQUEST_TIMEOUT',
];

/** The errors a route can answer, by status. */
export function errorResponses(route: RouteSpec): Record<string, JsonSchema> {
  const codes = new Set<string>([
    ...OF_EVERY_ROUTE,
    ...(route.method === 'GET' ? [] : [route.multipart === undefined ? 'MALFORMED_JSON' : 'MALFORMED_FORM', ...OF_MUTATIONS]),
    ...(route.query === undefined && route.paged !== true ? [] : ['VALIDATION_ERROR']),
    ...(route.paged === true ? ['INVALID_CURSOR'] : []),
    ...(route.testOnly === true ? ['TEST_KEY_REQUIRED'] : []),
    ...(route.liveOnly === true ? ['LIVE_KEY_REQUIRED'] : []),
    ...Object.values(route.pathIds ?? {}).map((one) => one.notFound),
    ...route.errors,
  ]);
  const byStatus = Object.groupBy([...codes], (code) => String(statusOf(route, code)));
  return Object.fromEntries(Object.entries(byStatus).map(([status, ofStatus]) => [status, {
    description: ofStatus!.toSorted().join(', '),
    content: { 'application/json': { schema: { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { error: { properties: { code: { enum: ofStatus!.toSorted() } } } } }] } } },
  }]));
}

function statusOf(route: RouteSpec, code: string): number {
  if (!(code in ERRORS)) throw new Error(`${route.operationId} lists ${code}, which is not in the error catalog`);
  return ERRORS[code as ErrorCode].status;
}
