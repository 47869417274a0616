import Joi from 'joi';
import type { Infra } from '../../infra/context.ts';
import { ApiError, type Issue } from '../../infra/contract/errors.ts';
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '../../infra/contract/limits.ts';
import { cursorBinding } from '../page.ts';
import type { ListWindow, RouteSpec } from '../route.ts';
import type { Context, Middleware } from '../state.ts';
import { validationError } from '../validation/issues.ts';
import { inDocumentOrder, joiIssues } from '../validation/joi-issues.ts';
import { instant } from '../validation/joi-types.ts';
import { readQuery } from '../validation/query.ts';
import { treeIssues } from '../validation/tree-rules.ts';

/** Parameters that every list takes. */
export const PAGE_PARAMETERS = {
  limit: Joi.number().integer().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT).description('Rows per page.'),
  cursor: Joi.string().description('next_cursor of the page before.'),
  from: instant().description('Earliest list time, inclusive.'),
  to: instant().description('Latest list time, inclusive.'),
};

const OPTIONS: Joi.ValidationOptions = { abortEarly: false, convert: false, allowUnknown: false, errors: { render: false } };

interface Schemas {
  query: Joi.ObjectSchema;
  queryDescription: Joi.Description;
  bodyDescription: Joi.Description;
}

/** Row 27. Collects all issues and keeps them: with an Idempotency-Key the receipt answers first. */
export function validate(infra: Infra): Middleware {
  const compiled = new WeakMap<RouteSpec, Schemas>();
  return async function validate(ctx, next) {
    const route = ctx.state.route as RouteSpec;
    let schemas = compiled.get(route);
    if (schemas === undefined) compiled.set(route, (schemas = schemasOf(route)));
    try {
      ctx.state.input = inputOf(ctx, infra, schemas);
    } catch (error) {
      if (!(error instanceof ApiError) || ctx.state.idempotencyKey === undefined) throw error;
      ctx.state.fault = error;
    }
    await next();
  };
}

export function querySchema(route: RouteSpec): Joi.ObjectSchema {
  const own = route.query ?? Joi.object({});
  return route.paged === true ? Joi.object(PAGE_PARAMETERS).concat(own) : own;
}

function schemasOf(route: RouteSpec): Schemas {
  const query = querySchema(route);
  return { query, queryDescription: query.describe(), bodyDescription: (route.body ?? Joi.object()).describe() };
}

function inputOf(ctx: Context, infra: Infra, schemas: Schemas): NonNullable<Context['state']['input']> {
  const route = ctx.state.route as RouteSpec;
  const query = queryOf(ctx, schemas);
  const body = bodyOf(ctx, route, schemas);
  const issues = [...query.issues, ...body.issues];
  if (issues.length > 0) throw validationError(issues);
  return { query: query.values, body: body.values, ...(route.paged === true ? { window: windowOf(ctx, infra, query.values) } : {}) };
}

function queryOf(ctx: Context, schemas: Schemas): { values: Record<string, unknown>; issues: Issue[] } {
  const read = readQuery(ctx.state.search, (schemas.queryDescription.keys as Record<string, Joi.Description> | undefined) ?? {});
  const { value, error } = schemas.query.validate(read.values, OPTIONS);
  const issues = [...read.issues, ...treeIssues(read.values, 'query'), ...joiIssues(error?.details ?? [], 'query', schemas.queryDescription, read.values)];
  const { from, to } = value as { from?: unknown; to?: unknown };
  if (from instanceof Date && to instanceof Date && from > to) issues.push({ code: 'custom', message: 'to must not be before from', path: ['to'], in: 'query' });
  return { values: value as Record<string, unknown>, issues };
}

function bodyOf(ctx: Context, route: RouteSpec, schemas: Schemas): { values: Record<string, unknown>; issues: Issue[] } {
  const decoded = ctx.state.decodedBody;
  if (route.body === undefined && (route.method === 'DELETE' || route.method === 'GET')) return { values: {}, issues: [] };
  const body = decoded === undefined ? {} : decoded;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { values: {}, issues: [{ code: 'invalid_type', message: 'the body must be a JSON object', path: [], in: 'body' }] };
  }
  if (route.body === undefined) return { values: {}, issues: [] };
  const ofTree = treeIssues(body, 'body');
  const { value, error } = route.body.validate(body, OPTIONS);
  const ofSchema = joiIssues(error?.details ?? [], 'body', schemas.bodyDescription, body);
  return { values: value as Record<string, unknown>, issues: ordered(ofTree, ofSchema, body) };
}

/** A misspelt name that is also too long is one fault, not two. */
function ordered(ofTree: Issue[], ofSchema: Issue[], body: object): Issue[] {
  if (ofTree.length + ofSchema.length === 0) return [];
  const seen = new Set(ofSchema.map((issue) => JSON.stringify(issue.path)));
  return inDocumentOrder([...ofTree.filter((issue) => !seen.has(JSON.stringify(issue.path))), ...ofSchema], body);
}

function windowOf(ctx: Context, infra: Infra, query: Record<string, unknown>): ListWindow {
  const { limit, cursor, from, to } = query as { limit: number; cursor?: string; from?: Date; to?: Date };
  return { limit, after: cursor === undefined ? null : infra.cursors.decode(cursor, cursorBinding(ctx)), from: from ?? null, to: to ?? null };
}
