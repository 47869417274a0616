import { newId } from '../../infra/contract/ids.ts';
import type { Log } from '../../infra/log/log.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Middleware } from '../state.ts';

const CLIENT_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Row 4: every request gets our id, which its reply, its rows and its one log line carry. The client's own id is only logged. */
export function requestId(options: { log: Log; lifecycle: Lifecycle }): Middleware {
  return async function requestId(ctx, next) {
    const { state } = ctx;
    state.requestId = newId('request');
    state.startedAt = performance.now();
    state.pathParams = {};
    state.search = new URLSearchParams(ctx.querystring);
    state.rawBody = Buffer.alloc(0);
    ctx.set('X-Request-Id', state.requestId);
    options.lifecycle.requestBegan();
    ctx.res.once('close', () => {
      options.lifecycle.requestEnded();
      const clientId = ctx.get('X-Request-Id');
      // No URL, no body and no header value of the client's other than an id of a harmless form.
      // Who watches over the process asks all the time; the answers are in the document itself.
      const level = state.route?.path === '/health' || state.route?.path === '/ready' ? 'debug' : 'info';
      options.log[level]({
        method: ctx.method, route: state.route?.path ?? null, status: ctx.res.writableFinished ? ctx.res.statusCode : 499,
        ms: Math.round((performance.now() - state.startedAt) * 10) / 10, request_id: state.requestId,
        organization_id: state.caller?.organizationId ?? null, ...(CLIENT_ID.test(clientId) ? { client_request_id: clientId } : {}),
      }, 'request');
    });
    await next();
  };
}
