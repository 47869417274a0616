import { empty, json, type Reply } from '../reply.ts';
import type { Sandbox } from '../sandbox.ts';

export interface AdminCall {
  sandbox: Sandbox;
  params: readonly string[];
  query: URLSearchParams;
  body: unknown;
}

export type AdminHandler = (call: AdminCall) => Promise<Reply> | Reply;

export const fault = (status: number, error: string): Reply => json(status, { error });
export const noContent = (): Reply => empty(204);
