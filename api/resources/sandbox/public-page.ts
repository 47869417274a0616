import { createHash } from 'node:crypto';
import { sandboxAdmin } from '../../../infra/sandbox-admin.ts';
import type { PublicCall, Reply } from '../../route.ts';
import type { MediaRow, PageRow } from './admin-types.ts';

const PLATFORM_WORD = /^[a-z]{1,20}$/;
const OBJECT_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$/;

const STYLE = 'body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;color:#1d1d1f}header,footer{color:#6e6e73;font-size:.875rem}pre{font:inherit;white-space:pre-wrap;overflow-wrap:anywhere;margin:1rem 0}';
/** Nothing on the page runs and nothing is loaded; its one style is named by its digest. */
const HEADERS = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'X-Robots-Tag': 'noindex',
};

/** GET /sandbox/p/{platform}/{id}: the post as published, for whoever has its address. */
export async function publicPage(call: PublicCall): Promise<Reply> {
  const { platform = '', id = '' } = call.params;
  const isPossible = PLATFORM_WORD.test(platform) && OBJECT_ID.test(id);
  const page = isPossible ? await sandboxAdmin(call.infra).read<PageRow>(`/pages/${platform}/${id}`) : null;
  return page === null ? html(404, 'Not found', '<p>There is nothing here. It was removed, or never was.</p>') : html(200, titleOf(page), postOf(page));
}

function titleOf({ platform, account }: PageRow): string {
  return `${account.display_name ?? account.username ?? 'Sandbox'} on ${platform} (sandbox)`;
}

function postOf(page: PageRow): string {
  const { account, media } = page;
  return [
    `<header>${escape(page.platform)} · ${escape(page.kind)} · ${escape(account.display_name ?? account.username ?? '')}${account.username === null ? '' : ` @${escape(account.username)}`}</header>`,
    `<pre>${escape(page.text ?? '')}</pre>`,
    media.length === 0 ? '' : `<ul>${media.map(mediaOf).join('')}</ul>`,
    `<footer>${escape(page.object_id)} · <time datetime="${escape(page.created_at)}">${escape(page.created_at)}</time> · Published at the sandbox; no real platform shows it.</footer>`,
  ].join('\n');
}

function mediaOf({ kind, mime_type, bytes, alt_text }: MediaRow): string {
  return `<li>${escape(kind)}, ${escape(mime_type)}, ${bytes} bytes${alt_text === null ? '' : `: ${escape(alt_text)}`}</li>`;
}

function html(status: number, title: string, content: string): Reply {
  const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="robots" content="noindex"><meta name="viewport" content="width=device-width"><title>${escape(title)}</title><style>${STYLE}</style></head>
<body>
${content}
</body>
</html>
`;
  return { status, file: { type: 'text/html; charset=utf-8', bytes: Buffer.from(page) }, headers: HEADERS };
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
}
