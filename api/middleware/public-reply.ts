import type { Infra } from '../../infra/context.ts';
import { assertReply } from '../check-replies.ts';
import { renderReply, writeReply } from '../rendered-reply.ts';
import type { PublicCall, PublicRoute } from '../route.ts';
import type { Middleware } from '../state.ts';

/** Runs the handler of a route without credential. */
export function publicReply(options: { infra: Infra; checkReplies: boolean }): Middleware {
  return async function publicReply(ctx) {
    const route = ctx.state.route as PublicRoute;
    const { pathParams: params, search: query, requestId } = ctx.state;
    const reply = renderReply(await route.handler({ infra: options.infra, params, query, headers: ctx.headers as PublicCall['headers'], requestId, now: options.infra.clock.now() }));
    if (options.checkReplies) assertReply(route, reply);
    writeReply(ctx, reply);
  };
}
