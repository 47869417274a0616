import type { Platform } from '../infra/contract/platforms.ts';
import type { Endpoints } from './provider.ts';

/**
 * Where each platform is. Names are the hosts of the contract; `page` and `pages_also` are patterns of a post's public page.
 * `{instance_url}` is filled from the account.
 */
const LIVE: Partial<Record<Platform, Endpoints>> = {
  twitter: {
    api: 'https://api.x.com',
    oauth: 'https://x.com',
    page: 'https://x.com/{username}/status/{id}',
    pages_also: 'https://x.com/i/web/status/{id} https://twitter.com/{username}/status/{id} https://mobile.twitter.com/{username}/status/{id} https://www.x.com/{username}/status/{id}',
  },
  mastodon: {
    instance: '{instance_url}',
    page: '{instance_url}/@{username}/{id}',
    pages_also: '{instance_url}/users/{username}/statuses/{id} {instance_url}/web/statuses/{id} {instance_url}/notice/{id}',
  },
};

export function liveEndpoints(platform: Platform, metadata: Readonly<Record<string, unknown>> = {}): Endpoints {
  const instance = typeof metadata['instance_url'] === 'string' ? metadata['instance_url'].replace(/\/+$/, '') : '';
  return Object.fromEntries(Object.entries(LIVE[platform] ?? {}).map(([name, address]) => [name, address.replaceAll('{instance_url}', instance)]));
}

/** The same names at the sandbox. Its public pages are served by the API, at `baseUrl`. */
export function sandboxEndpoints(platform: Platform, sandboxUrl: string, baseUrl: string = sandboxUrl): Endpoints {
  const hosts = Object.keys(LIVE[platform] ?? {}).filter((name) => name !== 'page' && name !== 'pages_also');
  return { ...Object.fromEntries(hosts.map((name) => [name, `${sandboxUrl}/${platform}/${name}`])), page: `${baseUrl}/sandbox/p/${platform}/{id}` };
}
