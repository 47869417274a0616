import { idOfPage } from '../common/pages.ts';
import type { Endpoints } from '../provider.ts';

/** Reads the id out of the address of a post's public page; null = no such address. */
export function postIdFromUrl(url: string, endpoints: Endpoints): string | null {
  return idOfPage(endpoints, url, '[0-9]{1,19}');
}
