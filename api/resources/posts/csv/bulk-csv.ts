import type { ApiError, Issue } from '../../../../infra/contract/errors.ts';
import { readUsage, usageHeaders } from '../../../../infra/db/repositories/usage.ts';
import { rehearse } from '../../../../infra/db/tenant.ts';
import { shownError, type ShownError } from '../../../error-reply.ts';
import type { Call, Reply } from '../../../route.ts';
import { assertNamedWorkspace } from '../../../workspace-access.ts';
import { createEach, refuseWithoutUnits, type Outcome } from '../bulk-create.ts';
import { columnOf } from './columns.ts';
import { refuseWideFile } from './reach.ts';
import type { RowRefusal } from './refusal.ts';
import { readRow, type ReadRow } from './rows.ts';
import { withTags } from './row-tags.ts';
import { readTable } from './table.ts';

/** POST /v1/posts/bulk-csv: each row is a creation of its own. A dry run carries all of them out and keeps none. */
export async function createFromCsv(call: Call): Promise<Reply> {
  const { caller, now, query, tx } = call;
  const { dry_run: isDryRun, workspace_id, timezone } = query;
  if (workspace_id !== undefined) await assertNamedWorkspace(call, workspace_id, 'write');
  const { columns, rows: raw } = readTable(call.file!, query.delimiter);
  const defaults = { ...(timezone === undefined ? {} : { timezone }), ...(workspace_id === undefined ? {} : { workspace_id }) };
  const rows = await withTags(call, raw.map((one) => readRow(one, columns, defaults)));
  const outcomes = await outcomesOf(call, rows, isDryRun);
  const results = rows.map((row) => resultOf(row, outcomes.get(row), isDryRun));
  const count = (status: RowResult['status']) => results.filter((result) => result.status === status).length;
  const succeeded = count('success');
  return {
    status: isDryRun ? 200 : 201,
    body: { data: results, summary: { total_rows: rows.length, succeeded, failed: count('error'), skipped: count('skipped'), posts_created: isDryRun ? 0 : succeeded }, dry_run: isDryRun },
    headers: usageHeaders(await readUsage(tx, { of: caller, now })),
    workspaceIds: [...outcomes.values()].flatMap((outcome) => (outcome.error === null ? (outcome.reply.workspaceIds ?? []) : [])),
  };
}

async function outcomesOf(call: Call, rows: readonly ReadRow[], isDryRun: boolean): Promise<Map<ReadRow, Outcome>> {
  const readable = rows.filter((row) => row.kind === 'body');
  const bodies = readable.map(({ body }) => body);
  await refuseWideFile(call, bodies);
  const outcomes = isDryRun ? await rehearse(call.tx, (tx) => createEach({ ...call, tx, afterCommit: () => {} }, bodies)) : await createEach(call, bodies);
  if (!isDryRun) refuseWithoutUnits(outcomes);
  return new Map(readable.map((row, index) => [row, outcomes[index]!]));
}

interface RowResult {
  row: number;
  line: number;
  status: 'success' | 'error' | 'skipped';
  post_id?: string;
  scheduled_at?: string | null;
  external_id?: string;
  error?: ShownError;
  warnings?: { code: string; message: string }[];
}

function resultOf(row: ReadRow, outcome: Outcome | undefined, isDryRun: boolean): RowResult {
  const place = { row: row.row, line: row.line, ...(row.externalId === null ? {} : { external_id: row.externalId }) };
  if (row.kind === 'skipped') return { ...place, status: 'skipped' };
  if (row.kind === 'refused') return { ...place, status: 'error', error: rowError(row.error) };
  if (outcome!.error !== null) return { ...place, status: 'error', error: rowError(outcome!.error) };
  const { body, warnings } = outcome!.reply;
  return { ...place, status: 'success', ...(isDryRun ? {} : { post_id: body.id }), scheduled_at: body.scheduled_at, ...shownWarnings(warnings ?? []) };
}

/** Once each, though several accounts may have the same. */
function shownWarnings(found: NonNullable<Reply['warnings']>): Pick<RowResult, 'warnings'> {
  const warnings = [...new Map(found.filter(({ severity }) => severity === 'warning').map(({ code, message }) => [`${code} ${message}`, { code, message }])).values()];
  return warnings.length === 0 ? {} : { warnings };
}

/** What is not valid is named by its column: the file has no other places. */
function rowError(error: ApiError | RowRefusal): ShownError {
  const shown = shownError(error);
  if (shown.code !== 'VALIDATION_ERROR') return shown;
  const issues = (shown.details!.issues as Issue[]).map((issue) => ({ ...issue, path: [columnOf(issue.path)] }));
  return { ...shown, details: { ...shown.details, issues } };
}
