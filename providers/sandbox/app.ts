import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { newId } from '../../infra/contract/ids.ts';
import { isAccessExpired } from './behaviours.ts';
import { serveAdmin } from './admin/routes.ts';
import { readBody, type Body } from './body.ts';
import { sha256 } from './ids.ts';
import { finish, FOLLOWED_PREFIX, type Ending } from './misbehave.ts';
import { PLAYED } from './platforms/index.ts';
import type { Call, PlayedPlatform, Route } from './platforms/platform.ts';
import { json, sendReply, text, type Reply } from './reply.ts';
import { sampleReply } from './samples.ts';
import type { Account } from './accounts.ts';
import type { Sandbox } from './sandbox.ts';
import { serve, waitLatency, writeRequest } from './serve.ts';
import { readTrace } from './trace.ts';
import { findWords, wordFor } from './words.ts';

const HEADERS_TIMEOUT_MS = 10_000;

/** The HTTP side: `/health`, `/samples/…`, `/admin/…`, and `/{platform}/{host}{original path}`. */
export function createApp(sandbox: Sandbox): Server {
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS, keepAliveTimeout: 65_000, noDelay: true }, (request, response) => {
    answer(sandbox, request, response).catch((error: unknown) => {
      sandbox.log.failed('request_failed', error);
      sendReply(response, text(500, 'internal error'));
    });
  });
  return server;
}

async function answer(sandbox: Sandbox, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://sandbox');
  const [, first = '', host = ''] = url.pathname.split('/', 3);
  if (url.pathname === '/health') return sendReply(response, json(200, { status: 'ok' }));
  if (first === 'samples') return sendReply(response, sampleReply(host));
  if (first === 'admin') return serveAdmin(sandbox, { request, response, url });
  const platform = PLAYED.get(first);
  const routes = platform?.hosts[host];
  if (platform === undefined || routes === undefined) return sendReply(response, json(404, { error: 'no such platform or host' }));
  const receivedAt = new Date();
  const ending = await play(sandbox, { request, url, platform, routes, prefix: `/${first}/${host}`, receivedAt });
  await waitLatency(receivedAt, sandbox.settings.latencyMs);
  finish(response, ending);
}

interface Arrival {
  request: IncomingMessage;
  url: URL;
  platform: PlayedPlatform;
  routes: readonly Route[];
  prefix: string;
  receivedAt: Date;
}

async function play(sandbox: Sandbox, arrival: Arrival): Promise<Ending> {
  const { request, url, platform } = arrival;
  const rest = url.pathname.slice(arrival.prefix.length);
  const followed = rest.startsWith(`${FOLLOWED_PREFIX}/`);
  const path = followed ? rest.slice(FOLLOWED_PREFIX.length) : rest;
  const found = findRoute(arrival.routes, request.method ?? 'GET', path);
  const account = found === null ? null : await sandbox.accounts.byAccessToken(platform.name, platform.credential(request.headers, url.searchParams));
  const early = earlyReply(platform, found?.route ?? null, account, path);
  if (found === null || early !== null) {
    // The body is let pass by unread, so that the caller can finish sending it.
    request.resume();
    return { kind: 'reply', reply: early ?? platform.replies.notFound(path) };
  }
  const call = callOf(sandbox, arrival, { ...found, path, account, followed });
  call.body = await readBody(request, (half) => dropsMidway(call, half));
  call.request = { ...call.request, body_sha256: sha256(call.body.bytes), bytes: call.body.bytes.length };
  if (call.body.tooLarge) return { kind: 'reply', reply: platform.replies.tooLarge() };
  if (!call.body.broken) return serve(call);
  const word = midwayWord(call, call.body.bytes);
  await writeRequest(call, { answered: 'dropped', word });
  return { kind: 'reset' };
}

/** Answers that need no body: no such route, nobody's credential, a credential that time has ended. */
function earlyReply(platform: PlayedPlatform, route: Route | null, account: Account | null, path: string): Reply | null {
  if (route === null) return platform.replies.notFound(path);
  if (account === null) return route.anonymous === true ? null : platform.replies.unauthorized();
  return isAccessExpired(account, platform.accessTokenSeconds) ? platform.replies.expired() : null;
}

/** Stands in where a route needs no account. It owns nothing, and nothing is written under it. */
const NOBODY: Account = {
  id: '', organizationId: '', platform: '', platformAccountId: '', username: '', displayName: '', behaviour: 'normal', behaviourGeneration: 0,
  accessSha256: Buffer.alloc(0), refreshSha256: null, accessSince: new Date(0), generation: 0,
};
const NO_BODY: Body = { bytes: Buffer.alloc(0), contentType: '', tooLarge: false, broken: false };

interface Found {
  route: Route;
  params: Record<string, string>;
  path: string;
  account: Account | null;
  followed: boolean;
}

function callOf(sandbox: Sandbox, { request, url, platform, receivedAt }: Arrival, { route, params, path, account, followed }: Found): Call {
  const trace = readTrace(request.headers['x-oncepost-trace']);
  const step = trace.step ?? (route.deciding === true ? 'publish' : null);
  return {
    sandbox, platform, route, path, params, query: url.searchParams, headers: request.headers, body: NO_BODY,
    account: account ?? NOBODY, signedIn: account !== null, trace, step, deciding: route.deciding === true && step === 'publish', followed,
    request: { id: newId('request'), method: request.method ?? 'GET', path: url.pathname + url.search, body_sha256: '', bytes: 0 },
    receivedAt,
  };
}

/** Half of a body cannot be parsed: what separates a text from its surroundings in JSON and forms counts as white space. */
function midwayWord(call: Call, bytes: Buffer): ReturnType<typeof wordFor> {
  const word = wordFor(findWords([bytes.toString('utf8').replace(/["&=+]|\\[nrt]/g, ' ')]), 'answer', { platform: call.platform.name, step: call.step, deciding: call.deciding });
  return word?.name === 'drop-midway' ? word : null;
}

/** Asked at half of a long body, when its text is not complete: the operation stands for the object. */
async function dropsMidway(call: Call, half: Buffer): Promise<boolean> {
  if (!call.signedIn || midwayWord(call, half) === null) return false;
  const subject = call.trace.operationId ?? sha256(half.subarray(0, 4_096));
  const first = await call.sandbox.usedWords.claim({ accountId: call.account.id, subject: `midway\n${subject}`, step: call.step ?? call.route.path, word: 'drop-midway' });
  call.midwayPassed = !first;
  return first;
}

function findRoute(routes: readonly Route[], method: string, path: string): { route: Route; params: Record<string, string> } | null {
  for (const route of routes) {
    const match = route.method === method ? patternOf(route).exec(path) : null;
    if (match !== null) return { route, params: Object.fromEntries(Object.entries(match.groups ?? {}).map(([name, value]) => [name, decoded(value)])) };
  }
  return null;
}

const patterns = new Map<Route, RegExp>();

function patternOf(route: Route): RegExp {
  let pattern = patterns.get(route);
  if (pattern === undefined) {
    pattern = new RegExp(`^${route.path.replaceAll('.', '\\.').replace(/:([a-z_]+)/g, '(?<$1>[^/]+)')}$`);
    patterns.set(route, pattern);
  }
  return pattern;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
