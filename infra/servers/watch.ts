import { watch } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Service } from './service.ts';

const FOLDERS = ['api', 'workflows', 'activities', 'workers', 'providers', 'infra'];
/** An editor or a checkout changes several files in one go. */
const SETTLE_MS = 250;

/**
 * Restarts the services when a source file changes. Watches folders rather than what was imported (as `node --watch` does),
 * because the worker takes its workflows by path.
 */
export function restartOnChange(services: Service[], ended: AbortSignal, say: (line: string) => void): void {
  let timer: NodeJS.Timeout | undefined;
  let turn = Promise.resolve();
  const restart = async (file: string) => {
    if (ended.aborted) return;
    say(`${file} changed: restarting ${services.map(({ name }) => name).join(' and ')}`);
    const results = await Promise.allSettled(services.map((service) => service.restart()));
    for (const result of results) if (result.status === 'rejected') say((result.reason as Error).message);
  };
  for (const folder of FOLDERS) {
    const path = fileURLToPath(new URL(`../../${folder}`, import.meta.url));
    watch(path, { recursive: true, signal: ended }, (_event, file) => {
      if (file?.endsWith('.ts') !== true) return;
      clearTimeout(timer);
      timer = setTimeout(() => (turn = turn.then(() => restart(`${folder}/${file}`))), SETTLE_MS);
    });
  }
}
