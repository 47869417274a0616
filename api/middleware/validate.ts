import Joi from 'joi';
import type { Infra } from '../../infra/context.ts';
import { ApiError, type Issue } from '../../infra/contract/errors.ts';
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '../../infra/contract/limits.ts';
import type { UploadedFile } from '../form/form.ts';
import { cursorBinding } from '../page.ts';
import type { ListWindow, RouteSpec } from '../route.ts';
import type { Context, Middleware } from '../state.ts';
import { described, isObject, JOI_OPTIONS, judgeBody, notAnObject, type DescribedSchema, type JudgedBody } from '../validation/body.ts';
import { validationError } from '../validation/issues.ts';
import { joiIssues } from '../validation/joi-issues.ts';
import { instant } from '../validation/joi-types.ts';
import { readWait } from '../validation/prefer.ts';
import { readQuery } from '../validation/query.ts';
import { treeIssues } from '../validation/tree-rules.ts';

/** Parameters that every list takes. */
export const PAGE_PARAMETERS = {
  limit: Joi.number().integer().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT).description('Rows per page.'),
  cursor: Joi.string().description('next_cursor of the page before.'),
  from: instant().description('Earliest list time, inclusive.'),
  to: instant().description('Latest list time, inclusive.'),
};

interface Schemas {
  query: DescribedSchema;
  body: DescribedSchema;
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
  return { query: described(querySchema(route)), body: described(route.body ?? Joi.object()) };
}

function inputOf(ctx: Context, infra: Infra, schemas: Schemas): NonNullable<Context['state']['input']> {
  const route = ctx.state.route as RouteSpec;
  const query = queryOf(ctx, schemas.query);
  const body = bodyOf(ctx, infra, schemas.body);
  const wait = route.wait === undefined ? { seconds: 0, issues: [] } : readWait(ctx.get('Prefer'), route.wait);
  const issues = [...query.issues, ...wait.issues, ...body.issues];
  if (issues.length > 0) throw validationError(issues);
  return {
    query: query.values, body: body.values, waitSeconds: wait.seconds,
    ...(route.paged === true ? { window: windowOf(ctx, infra, query.values) } : {}),
    ...(route.multipart === undefined ? {} : { file: fileOf(ctx) }),
  };
}

function queryOf(ctx: Context, { schema, description }: DescribedSchema): { values: Record<string, unknown>; issues: Issue[] } {
  const read = readQuery(parametersOf(ctx), (description.keys as Record<string, Joi.Description> | undefined) ?? {});
  const { value, error } = schema.validate(read.values, JOI_OPTIONS);
  const issues = [...read.issues, ...treeIssues(read.values, 'query'), ...joiIssues(error?.details ?? [], 'query', description, read.values)];
  const { from, to } = value as { from?: unknown; to?: unknown };
  if (from instanceof Date && to instanceof Date && from > to) issues.push({ code: 'custom', message: 'to must not be before from', path: ['to'], in: 'query' });
  return { values: value as Record<string, unknown>, issues };
}

/** The query, and what the text parts of a form say where the query says nothing. */
function parametersOf({ state: { search, form } }: Context): URLSearchParams {
  if (form === undefined) return search;
  const parts = Object.entries(form.fields).filter(([name]) => (search.get(name) ?? '') === '');
  return new URLSearchParams([...[...search].filter(([name]) => parts.every(([one]) => one !== name)), ...parts]);
}

function fileOf({ state: { form } }: Context): UploadedFile {
  const file = form?.file ?? null;
  if (file === null || file.bytes.length === 0) throw new ApiError('BAD_REQUEST', 'Send one file that is not empty, as the part named file with a file name.');
  return file;
}

function bodyOf(ctx: Context, infra: Infra, schema: DescribedSchema): JudgedBody {
  const route = ctx.state.route as RouteSpec;
  const { decodedBody: body = {} } = ctx.state;
  if (route.body !== undefined) return judgeBody(body, schema, { now: infra.clock.now(), elements: route.elements });
  return { values: {}, issues: route.method === 'DELETE' || route.method === 'GET' || isObject(body) ? [] : [notAnObject()] };
}

function windowOf(ctx: Context, infra: Infra, query: Record<string, unknown>): ListWindow {
  const { limit, cursor, from, to } = query as { limit: number; cursor?: string; from?: Date; to?: Date };
  return { limit, after: cursor === undefined ? null : infra.cursors.decode(cursor, cursorBinding(ctx)), from: from ?? null, to: to ?? null };
}
