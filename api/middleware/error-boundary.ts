import type { Log } from '../../infra/log/log.ts';
import { errorReply } from '../error-reply.ts';
import { asApiError, SenderGone } from '../faults.ts';
import type { Context, Middleware } from '../state.ts';

/** Whatever is thrown further in becomes the one error envelope here. Headers set so far stay: Koa's own handler would remove them. */
export function errorBoundary(options: { log: Log }): Middleware {
  return async function errorBoundary(ctx, next) {
    try {
      await next();
    } catch (error) {
      if (error instanceof SenderGone) {
        ctx.respond = false;
        ctx.req.socket.destroy();
        return;
      }
      answer(ctx, error, options.log);
    }
  };
}

function answer(ctx: Context, thrown: unknown, log: Log): void {
  const { state } = ctx;
  const error = asApiError(thrown);
  const mutation = !['GET', 'HEAD', 'OPTIONS'].includes(ctx.method);
  if (error.status >= 500) {
    log[error.code === 'INTERNAL_ERROR' ? 'error' : 'warn']({ request_id: state.requestId, route: state.route?.path ?? null, error_code: error.code, err: error.cause ?? error }, 'request failed');
  }
  const reply = errorReply(error, { requestId: state.requestId, unkeyedMutation: mutation && state.idempotencyKey === undefined });
  ctx.status = reply.status;
  ctx.body = Buffer.from(reply.body);
  ctx.remove('ETag');
  ctx.set(reply.headers);
}
