import type { Infra } from '../../../infra/context.ts';
import type { Lifecycle } from '../../lifecycle.ts';
import type { PublicRoute } from '../../route.ts';
import { VERSION } from '../../version.ts';
import { healthSchema, readySchema } from './meta.schema.ts';
import { Readiness } from './readiness.ts';

const NOT_READY_RETRY_SECONDS = '5';

/** Health of the process and of what it stands on. */
export function metaRoutes(infra: Infra, lifecycle: Lifecycle): PublicRoute[] {
  const readiness = new Readiness(infra, lifecycle);
  return [
    {
      public: true, method: 'GET', path: '/health', operationId: 'getHealth', summary: 'Whether the process lives', tag: 'meta',
      replies: { 200: { description: 'It lives.', schema: healthSchema } },
      handler: async () => ({ status: 200, body: { status: 'ok', version: VERSION, uptime_seconds: Math.floor(process.uptime()) } }),
    },
    {
      public: true, method: 'GET', path: '/ready', operationId: 'getReady', summary: 'Whether the process can do its work', tag: 'meta',
      replies: { 200: { description: 'Ready.', schema: readySchema }, 503: { description: 'Not ready.', schema: readySchema, headers: ['Retry-After'] } },
      async handler(call) {
        const { isReady, checks } = await readiness.check(call.query.get('for') === 'accept' ? 'accept' : 'all');
        const body = { status: isReady ? 'ready' : 'not_ready', version: VERSION, checks };
        return isReady ? { status: 200, body } : { status: 503, body, headers: { 'Retry-After': NOT_READY_RETRY_SECONDS } };
      },
    },
  ];
}
