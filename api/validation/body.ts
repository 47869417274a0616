import type Joi from 'joi';
import type { Issue } from '../../infra/contract/errors.ts';
import { inDocumentOrder, joiIssues } from './joi-issues.ts';
import { treeIssues } from './tree-rules.ts';

export const JOI_OPTIONS: Joi.ValidationOptions = { abortEarly: false, convert: false, allowUnknown: false, errors: { render: false } };

/** A body as its schema gives it back, and everything that is wrong in it. */
export interface JudgedBody {
  values: Record<string, unknown>;
  issues: Issue[];
}

/** A schema with its description, which takes long to make. */
export interface DescribedSchema {
  schema: Joi.ObjectSchema;
  description: Joi.Description;
}

export function described(schema: Joi.ObjectSchema): DescribedSchema {
  return { schema, description: schema.describe() };
}

interface Circumstances {
  /** For what a schema says about times: joi hands it to `custom()` as `helpers.prefs.context`. */
  now: Date;
  /** The member whose elements are judged one by one elsewhere. */
  elements?: string | undefined;
}

export function judgeBody(body: unknown, { schema, description }: DescribedSchema, { now, elements }: Circumstances): JudgedBody {
  if (!isObject(body)) return { values: {}, issues: [notAnObject()] };
  const ofTree = treeIssues(elements === undefined ? body : envelopeOf(body, elements), 'body');
  const { value, error } = schema.validate(body, { ...JOI_OPTIONS, context: { now } });
  const ofSchema = joiIssues(error?.details ?? [], 'body', description, body);
  return { values: value as Record<string, unknown>, issues: ordered(ofTree, ofSchema, body) };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function notAnObject(): Issue {
  return { code: 'invalid_type', message: 'the body must be a JSON object', path: [], in: 'body' };
}

/** A list of the wrong type is the envelope's own fault, so it is looked into. */
function envelopeOf(body: Record<string, unknown>, elements: string): Record<string, unknown> {
  return Array.isArray(body[elements]) ? { ...body, [elements]: [] } : body;
}

/** A misspelt name that is also too long is one fault, not two. */
function ordered(ofTree: Issue[], ofSchema: Issue[], body: object): Issue[] {
  if (ofTree.length + ofSchema.length === 0) return [];
  const seen = new Set(ofSchema.map((issue) => JSON.stringify(issue.path)));
  return inDocumentOrder([...ofTree.filter((issue) => !seen.has(JSON.stringify(issue.path))), ...ofSchema], body);
}
