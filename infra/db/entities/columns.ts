import { p } from '@mikro-orm/core';
import type { Mode } from '../../contract/platforms.ts';

/** Columns that many tables share, so that a time or a list is stored the same way everywhere. */
export const id = () => p.string().columnType('text').primary();
export const text = () => p.string().columnType('text');
export const instant = () => p.datetime().columnType('timestamptz(3)');
export const json = <T>() => p.json().$type<T>();
export const integer = () => p.integer();
export const flag = () => p.boolean();
export const bytes = () => p.blob();
export const texts = () => p.array<string>().columnType('text[]');
export const mode = () => text().$type<Mode>();

/** Who did it, as stored with the row. */
export interface Actor {
  type: 'user' | 'api_key' | 'system';
  id: string | null;
}
