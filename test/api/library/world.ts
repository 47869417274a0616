import type { Organization } from '../../../infra/db/entities/organization.entity.ts';
import type { Mode } from '../../../infra/contract/platforms.ts';
import { startApi, type Answer, type TestApi } from '../../support/api.ts';
import { apiKey, organization, workspace } from '../../support/factories.ts';

export { codeOf } from '../../support/api.ts';

/** An API with an organization of two workspaces and an archived one, and keys of every scope. */
export interface Library {
  api: TestApi;
  org: Organization;
  mine: string;
  other: string;
  archived: string;
  keys: Record<'whole' | 'scoped' | 'several' | 'live' | 'foreign' | 'strict', string>;
  send(method: string, path: string, body?: unknown, who?: keyof Library['keys']): Promise<Answer>;
  /** The body of a row that must be made. */
  made(path: string, body: Record<string, unknown>, who?: keyof Library['keys']): Promise<any>;
  close(): Promise<void>;
}

export async function openLibrary(): Promise<Library> {
  const api = await startApi();
  const { infra } = api;
  const org = await organization(infra);
  const strict = await organization(infra, { requireWorkspaceId: true });
  const space = async (status: 'active' | 'archived' = 'active') => (await workspace(infra, { organizationId: org.id, status })).id;
  const [mine, other, archived] = [await space(), await space(), await space('archived')];
  const key = async (options: { workspaceScope?: string[]; mode?: Mode; organizationId?: string } = {}) => (await apiKey(infra, { organizationId: org.id, ...options })).secret;
  const keys = {
    whole: await key(), scoped: await key({ workspaceScope: [mine] }), several: await key({ workspaceScope: [mine, other] }), live: await key({ mode: 'live' }),
    foreign: await key({ organizationId: (await organization(infra)).id }), strict: await key({ organizationId: strict.id }),
  };
  const send: Library['send'] = (method, path, body, who = 'whole') => api.send(method, path, { key: keys[who], ...(body === undefined ? {} : { body }) });
  return {
    api, org, mine, other, archived, keys, send,
    async made(path, body, who) {
      const answer = await send('POST', path, body, who);
      if (answer.status !== 201) throw new Error(`not made: ${answer.status} ${answer.text}`);
      return answer.body;
    },
    close: () => api.close(),
  };
}

/** Code and path of each issue. */
export function issuesOf(answer: Answer): string[] {
  return (answer.body?.error?.details?.issues ?? []).map((issue: { code: string; path: unknown[] }) => `${issue.code} ${issue.path.join('.')}`).toSorted();
}

/** The whole list, in pages of this size. */
export async function walk(library: Library, path: string, limit: number, who: keyof Library['keys'] = 'whole'): Promise<any[]> {
  const seen: any[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body }: Answer = await library.send('GET', `${path}${path.includes('?') ? '&' : '?'}limit=${limit}&cursor=${cursor}`, undefined, who);
    seen.push(...body.data);
    cursor = body.next_cursor;
  }
  return seen;
}
