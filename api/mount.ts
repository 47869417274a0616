import { Router } from '@koa/router';
import { ApiError } from '../infra/contract/errors.ts';
import type { AnyRoute } from './route.ts';
import type { Context, Middleware } from './state.ts';

/** The guards of a route before its handler, by kind of route. */
export interface Guards {
  credential: Middleware[];
  public: Middleware[];
}

/** Rows 9 and 10: finds the route of a request and runs its guards and its handler. */
export function mount(routes: readonly AnyRoute[], guards: Guards): Middleware {
  const router = new Router({ strict: true, sensitive: true });
  for (const route of staticFirst(routes)) {
    const remember: Middleware = async function remember(ctx, next) {
      ctx.state.route = route;
      ctx.state.pathParams = { ...(ctx as Context & { params: Record<string, string> }).params };
      await next();
    };
    const chain = 'public' in route ? guards.public : guards.credential;
    router.register(routerPath(route.path), [route.method], [remember, ...chain] as never);
  }
  const dispatch = router.routes() as unknown as Middleware;
  return async function mount(ctx, next) {
    // An encoded slash is another path than a slash, and no route has one.
    if (/%2f/i.test(ctx.path)) throw noRoute();
    const { path: layers, route: isFound } = router.match(ctx.path, ctx.method);
    if (layers.length === 0) throw noRoute();
    if (isFound) return dispatch(ctx, next);
    const allow = allowed(layers.flatMap((layer) => layer.methods));
    if (ctx.method !== 'OPTIONS') throw new ApiError('METHOD_NOT_ALLOWED', `This path takes ${allow}.`, { headers: { Allow: allow } });
    ctx.set('Allow', allow);
    ctx.status = 204;
    return undefined;
  };
}

export function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function noRoute(): ApiError {
  return new ApiError('NOT_FOUND', 'There is nothing at this path. Paths are case-sensitive and have no trailing slash.', { details: { resource: 'route' } });
}

function allowed(methods: string[]): string {
  return ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => method === 'OPTIONS' || methods.includes(method)).join(', ');
}

/** A static segment wins over a parameter, wherever the two paths part. */
function staticFirst(routes: readonly AnyRoute[]): AnyRoute[] {
  const rank = (route: AnyRoute) => route.path.split('/').map((segment) => (segment.startsWith('{') ? '1' : '0')).join('');
  return routes.toSorted((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
}
