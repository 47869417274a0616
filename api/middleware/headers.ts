import type { Config } from '../../infra/config/config.ts';
import type { Context, Middleware } from '../state.ts';

const ALLOWED_HEADERS = ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-None-Match', 'If-Match', 'Prefer', 'X-Request-Id', 'X-Oncepost-Mode', 'traceparent', 'tracestate'];
const EXPOSED_HEADERS = [
  'X-Request-Id', 'X-Oncepost-Mode', 'Idempotency-Replayed', 'Retry-After', 'x-should-retry', 'RateLimit', 'RateLimit-Policy', 'X-Usage-Count',
  'X-Usage-Limit', 'ETag', 'Location', 'Preference-Applied', 'Oncepost-Warnings', 'Deprecation', 'Sunset',
].join(', ');
const PREFLIGHT_SECONDS = '86400';

/** What every answer carries, whatever is configured, and also where none of the application has run. */
export const ALWAYS_SENT: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=()',
  'Content-Security-Policy': `default-src 'none'; frame-ancestors 'none'`,
  'Cache-Control': 'no-store',
};

/** Row 4: headers that every answer carries, errors included. */
export function securityHeaders(config: Config): Middleware {
  const fixed: Record<string, string> = {
    ...ALWAYS_SENT,
    'Cross-Origin-Resource-Policy': config.cors === '*' ? 'cross-origin' : 'same-origin',
    ...(config.baseUrl.startsWith('https:') ? { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' } : {}),
  };
  return async function securityHeaders(ctx, next) {
    ctx.set(fixed);
    await next();
  };
}

/** Row 4: who may read our answers from a browser. Credentials are never sent by browsers on their own, so `*` gives nothing away. */
export function corsHeaders(config: Config): Middleware {
  return async function corsHeaders(ctx, next) {
    const origin = allowedOrigin(config.cors, ctx);
    if (origin !== null) {
      ctx.set('Access-Control-Allow-Origin', origin);
      ctx.set('Access-Control-Expose-Headers', EXPOSED_HEADERS);
    }
    if (Array.isArray(config.cors)) ctx.vary('Origin');
    await next();
  };
}

/** Row 7: a preflight is answered before anything is looked up. */
export function preflight(config: Config): Middleware {
  return async function preflight(ctx, next) {
    if (ctx.method !== 'OPTIONS' || ctx.get('Access-Control-Request-Method') === '') return next();
    ctx.status = 204;
    if (allowedOrigin(config.cors, ctx) === null) return undefined;
    const asked = ctx.get('Access-Control-Request-Headers').split(',').map((name) => name.trim()).filter((name) => /^x-[a-z0-9-]{1,64}$/i.test(name));
    const known = new Set(ALLOWED_HEADERS.map((name) => name.toLowerCase()));
    ctx.set('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
    ctx.set('Access-Control-Allow-Headers', [...ALLOWED_HEADERS, ...asked.filter((name) => !known.has(name.toLowerCase()))].join(', '));
    ctx.set('Access-Control-Max-Age', PREFLIGHT_SECONDS);
    return undefined;
  };
}

function allowedOrigin(cors: Config['cors'], ctx: Context): string | null {
  if (cors === 'none' || !(ctx.path.startsWith('/v1/') || ctx.path === '/openapi.json')) return null;
  if (cors === '*') return '*';
  const origin = ctx.get('Origin');
  return cors.includes(origin) ? origin : null;
}
