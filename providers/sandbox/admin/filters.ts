import { isId } from '../../../infra/contract/ids.ts';
import type { Reply } from '../reply.ts';
import type { Sandbox } from '../sandbox.ts';
import { fault } from './admin-call.ts';

const LIMIT_MAX = 1_000;
const LIMIT_DEFAULT = 100;

export interface Filters {
  organizationId: string;
  /** Conditions and values of a query on the ledger; the organization is `$1`. */
  where: string[];
  values: unknown[];
  epoch: number;
  limit: number;
  after: string | null;
}

export function placeholder(values: unknown[], value: unknown): string {
  return `$${values.push(value)}`;
}

const listOf = (query: URLSearchParams, name: string): string[] | null => (query.has(name) ? query.get(name)!.split(',').filter((item) => item !== '') : null);

/** The filters that ledger, summary and objects share. Columns named here exist in both tables, except `operation_id`. */
export async function readFilters(sandbox: Sandbox, query: URLSearchParams): Promise<Filters | Reply> {
  const organizationId = query.get('organization_id');
  if (!isId('organization', organizationId)) return fault(400, 'organization_id is missing or malformed');
  const limit = Number(query.get('limit') ?? LIMIT_DEFAULT);
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) return fault(400, `limit must be from 1 to ${LIMIT_MAX}`);
  const values: unknown[] = [organizationId];
  const where = ['organization_id = $1'];
  for (const name of ['account_id', 'platform', 'object_id', 'kind']) {
    const wanted = listOf(query, name);
    if (wanted !== null) where.push(`${name} = any(${placeholder(values, wanted)})`);
  }
  const text = query.get('text');
  if (text !== null) where.push(`position(${placeholder(values, text)} in text) > 0`);
  const { rows } = await sandbox.pool.query<{ epoch: number }>({ text: 'select epoch from sandbox.organization where id = $1', values: [organizationId] });
  return { organizationId, where, values, epoch: rows[0]?.epoch ?? 1, limit, after: query.get('after') };
}

/** Conditions that only the ledger has: epoch, operations, and whether `request` rows are wanted. */
export function ledgerConditions(filters: Filters, query: URLSearchParams): Reply | null {
  const epoch = query.get('epoch');
  if (epoch !== null && epoch !== 'all' && !/^[0-9]{1,9}$/.test(epoch)) return fault(400, 'epoch must be a number or all');
  if (epoch !== 'all') filters.where.push(`epoch = ${placeholder(filters.values, Number(epoch ?? filters.epoch))}`);
  const operations = listOf(query, 'operation_id');
  if (operations !== null) filters.where.push(`operation_id = any(${placeholder(filters.values, operations)})`);
  return null;
}

export function wantsRequests(query: URLSearchParams): boolean {
  return query.get('include') === 'requests' || (listOf(query, 'kind') ?? []).includes('request');
}
