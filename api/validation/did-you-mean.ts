import type Joi from 'joi';

/** The member names a schema knows at one place of the tree, alternatives included. */
export function namesAt(description: Joi.Description, path: readonly (string | number)[]): string[] {
  const kinds = description.type === 'alternatives' ? alternativesOf(description) : [description];
  if (kinds.length !== 1 || kinds[0] !== description) return kinds.flatMap((one) => namesAt(one, path));
  const [part, ...rest] = path;
  if (part === undefined) return Object.keys((description.keys as object | undefined) ?? {});
  const inner = description.type === 'array' ? ((description.items as Joi.Description[] | undefined) ?? []) : memberOf(description, String(part));
  return inner.flatMap((one) => namesAt(one, rest));
}

function memberOf(description: Joi.Description, name: string): Joi.Description[] {
  const known = (description.keys as Record<string, Joi.Description> | undefined)?.[name];
  if (known !== undefined) return [known];
  return ((description.patterns as { rule?: Joi.Description }[] | undefined) ?? []).flatMap((pattern) => pattern.rule ?? []);
}

function alternativesOf(description: Joi.Description): Joi.Description[] {
  const matches = (description.matches as Record<string, Joi.Description | undefined>[] | undefined) ?? [];
  return matches.flatMap((match) => [match.schema, match.then, match.otherwise]).filter((one) => one !== undefined);
}

/** The known name that a misspelt one most likely means: `scheduledAt` and `schedule_at` both mean `scheduled_at`. */
export function didYouMean(name: string, known: readonly string[]): string | null {
  if (name.length > 64) return null;
  const plain = (text: string) => text.toLowerCase().replaceAll(/[_-]/g, '');
  const given = plain(name);
  const [best] = known.map((one) => ({ one, distance: distance(given, plain(one)) })).sort((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= Math.max(1, Math.floor(given.length / 4)) ? best.one : null;
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length]!;
}
