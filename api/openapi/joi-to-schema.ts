import type Joi from 'joi';

export type JsonSchema = Record<string, unknown>;
/** In replies every member is there unless it is marked optional; requests are the other way round. */
export type Direction = 'request' | 'reply';

type When = { ref?: { path: string[] }; is?: Joi.Description; otherwise?: Joi.Description };
type Rule = { name: string; args?: Record<string, unknown> };

/** Turns `schema.describe()` into JSON Schema 2020-12, which OpenAPI 3.1 uses as it is. */
export function jsonSchema(description: Joi.Description, direction: Direction): JsonSchema {
  const flags = (description.flags ?? {}) as Record<string, unknown>;
  const allowed = allowedValues(description);
  const base = flags.only === true ? { enum: allowed } : withNull(bodyOf(description, direction), allowed.includes(null));
  return { ...base, ...metaOf(description), ...(flags.description === undefined ? {} : { description: flags.description }), ...defaultOf(flags.default) };
}

function bodyOf(description: Joi.Description, direction: Direction): JsonSchema {
  const rules = (description.rules ?? []) as Rule[];
  switch (description.type) {
    case 'string': return stringOf(rules, allowedValues(description));
    case 'number': return numberOf(rules);
    case 'boolean': return { type: 'boolean' };
    case 'array': return arrayOf(description, rules, direction);
    case 'object': return objectOf(description, rules, direction);
    case 'alternatives': return anyOf(matchesOf(description).map((one) => jsonSchema(one, direction)));
    default: return {};
  }
}

function allowedValues(description: Joi.Description): unknown[] {
  return ((description.allow ?? []) as unknown[]).filter((value) => typeof value !== 'object' || value === null);
}

function withNull(schema: JsonSchema, isNullable: boolean): JsonSchema {
  if (!isNullable) return schema;
  if (typeof schema.type === 'string') return { ...schema, type: [schema.type, 'null'] };
  return Object.keys(schema).length === 0 ? schema : { anyOf: [...((schema.anyOf as JsonSchema[] | undefined) ?? [schema]), { type: 'null' }] };
}

function metaOf(description: Joi.Description): JsonSchema {
  const metas = (description.metas ?? []) as Record<string, unknown>[];
  return Object.assign({}, ...metas.map(({ format, openapi }) => ({ ...(format === undefined ? {} : { format }), ...(openapi as object | undefined) })));
}

function defaultOf(value: unknown): JsonSchema {
  const isPlain = value === null || ['string', 'number', 'boolean'].includes(typeof value) || (Array.isArray(value) && value.length === 0);
  return isPlain ? { default: value } : {};
}

function stringOf(rules: Rule[], allowed: unknown[]): JsonSchema {
  const schema: JsonSchema = { type: 'string', ...(allowed.includes('') ? {} : { minLength: 1 }) };
  for (const { name, args = {} } of rules) {
    if (name === 'min') schema.minLength = args.limit;
    else if (name === 'max') schema.maxLength = args.limit;
    else if (name === 'length') Object.assign(schema, { minLength: args.limit, maxLength: args.limit });
    else if (name === 'pattern') schema.pattern = patternOf(String(args.regex));
    else if (name === 'uri') schema.format = 'uri';
    else if (name === 'email') schema.format = 'email';
  }
  return schema;
}

/** `/source/flags` → `source`. */
function patternOf(regex: string): string {
  return regex.slice(1, regex.lastIndexOf('/'));
}

function numberOf(rules: Rule[]): JsonSchema {
  const schema: JsonSchema = { type: rules.some((rule) => rule.name === 'integer') ? 'integer' : 'number' };
  const names: Record<string, string> = { min: 'minimum', max: 'maximum', greater: 'exclusiveMinimum', less: 'exclusiveMaximum', multiple: 'multipleOf' };
  for (const { name, args = {} } of rules) if (names[name] !== undefined) schema[names[name]] = args.limit ?? args.base;
  return schema;
}

function arrayOf(description: Joi.Description, rules: Rule[], direction: Direction): JsonSchema {
  const items = ((description.items ?? []) as Joi.Description[]).map((item) => jsonSchema(item, direction));
  const schema: JsonSchema = { type: 'array', items: items.length === 1 ? items[0] : items.length === 0 ? {} : { anyOf: items } };
  for (const { name, args = {} } of rules) {
    if (name === 'min') schema.minItems = args.limit;
    else if (name === 'max') schema.maxItems = args.limit;
    else if (name === 'length') Object.assign(schema, { minItems: args.limit, maxItems: args.limit });
    else if (name === 'unique') schema.uniqueItems = true;
  }
  return schema;
}

function objectOf(description: Joi.Description, rules: Rule[], direction: Direction): JsonSchema {
  const keys = (description.keys ?? {}) as Record<string, Joi.Description>;
  const members = Object.entries(keys).filter(([, member]) => presenceOf(member) !== 'forbidden');
  const required = members.filter(([, member]) => (direction === 'request' ? presenceOf(member) === 'required' : presenceOf(member) !== 'optional')).map(([name]) => name);
  const patterns = ((description.patterns ?? []) as { rule: Joi.Description }[]).map((pattern) => jsonSchema(pattern.rule, direction));
  const isOpen = description.keys === undefined || (description.flags as { unknown?: boolean } | undefined)?.unknown === true;
  const schema: JsonSchema = { type: 'object' };
  if (members.length > 0) schema.properties = Object.fromEntries(members.map(([name, member]) => [name, jsonSchema(member, direction)]));
  if (required.length > 0) schema.required = required;
  if (patterns.length > 0) schema.additionalProperties = patterns.length === 1 ? patterns[0] : { anyOf: patterns };
  // Replies may gain members within v1, so only requests are closed.
  else if (!isOpen && direction === 'request') schema.additionalProperties = false;
  for (const { name, args = {} } of rules) if (name === 'min' || name === 'max') schema[`${name}Properties`] = args.limit;
  return { ...schema, ...conditionsOf(members, direction) };
}

/** Members that are required unless another is of a kind: one sentence for each such kind. */
function conditionsOf(members: [string, Joi.Description][], direction: Direction): JsonSchema {
  const all = members.flatMap(([name, member]) => ((member.whens ?? []) as When[]).flatMap((when) => (when.otherwise !== undefined && presenceOf(when.otherwise) === 'required' ? [{ name, when }] : [])));
  const conditions = [...Map.groupBy(all, ({ when }) => JSON.stringify([when.ref, when.is])).values()].map((group) => {
    const { ref, is } = group[0]!.when;
    const [other] = ref!.path;
    return { anyOf: [{ properties: { [other!]: kindOf(is!, direction) }, ...(presenceOf(is!) === 'required' ? { required: [other] } : {}) }, { required: group.map(({ name }) => name) }] };
  });
  return conditions.length > 1 ? { allOf: conditions } : conditions[0] ?? {};
}

function kindOf(is: Joi.Description, direction: Direction): JsonSchema {
  return is.invalid === undefined ? jsonSchema(is, direction) : { not: { enum: is.invalid } };
}

/** Equal alternatives are one. */
function anyOf(schemas: readonly JsonSchema[]): JsonSchema {
  const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  return distinct.length === 1 ? distinct[0]! : { anyOf: distinct };
}

function presenceOf(description: Joi.Description): string | undefined {
  return (description.flags as { presence?: string } | undefined)?.presence;
}

function matchesOf(description: Joi.Description): Joi.Description[] {
  const matches = (description.matches ?? []) as Record<string, Joi.Description | undefined>[];
  return matches.flatMap((match) => [match.schema, match.then, match.otherwise]).filter((one) => one !== undefined);
}
