import type { FirstKeys } from './embedded-secrets.ts';
import type { Addresses } from './ready-file.ts';

/** What a start prints at its end. Keys that were shown before are left out. */
export function welcome(addresses: Addresses, dataDir: string, keys: FirstKeys | null): string {
  const lines = [
    '',
    'Oncepost is ready.',
    '',
    `  API          ${addresses.api}`,
    `  Temporal UI  ${addresses.temporal_ui ?? `of your own server at ${addresses.temporal}`}`,
    `  Data, logs   ${dataDir}`,
  ];
  if (keys !== null && !keys.wasShown) lines.push(...firstSteps(addresses, keys));
  return [...lines, '', 'Ctrl-C stops it.', ''].join('\n');
}

function firstSteps({ api }: Addresses, keys: FirstKeys): string[] {
  return [
    '',
    `The organization ${keys.organization_id} was created. Its keys are shown only now:`,
    '',
    `  Live key  ${keys.live_key}`,
    `  Test key  ${keys.test_key}`,
    ...(keys.sign_in_code === null ? [] : [`  Sign-in code  ${keys.sign_in_code}`]),
    '',
    'Publish to two sandbox accounts:',
    '',
    `curl -s ${api}/v1/posts \\`,
    `  -H 'Authorization: Bearer ${keys.test_key}' \\`,
    `  -H 'Content-Type: application/json' -H 'Prefer: wait=30' \\`,
    `  -d '{"targets":["mastodon","twitter"],"scheduled_at":"now","content":"Hello from Oncepost"}'`,
  ];
}
