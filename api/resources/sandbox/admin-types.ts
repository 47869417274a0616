/** What the sandbox's administration answers, as far as it is used here. */
export interface LedgerRow {
  id: string;
  epoch: number;
  ordinal: number;
  at: string;
  platform: string;
  account_id: string;
  kind: string;
  object_id: string | null;
  platform_post_id: string | null;
  parent_id: string | null;
  url: string | null;
  text: string | null;
  media: MediaRow[];
  recipient: string | null;
  operation_id: string | null;
  step: string | null;
  attempt: number | null;
  key: string | null;
  answered: string;
  word: string | null;
  double: boolean;
  request: { id: string; method: string; path: string; body_sha256: string; bytes: number };
}

export interface MediaRow {
  kind: string;
  mime_type: string;
  bytes: number;
  sha256: string | null;
  alt_text: string | null;
}

export interface ObjectRow {
  object_id: string;
  platform: string;
  account_id: string;
  kind: string;
  url: string | null;
  text: string | null;
  media: MediaRow[];
  parent_id: string | null;
  state: string;
  hidden: boolean;
  created_at: string;
}

export interface SummaryRow {
  epoch: number;
  entries: number;
  objects: number;
  doubles: number;
  requests: number;
  oldest_at: string | null;
  newest_at: string | null;
  by_platform: Record<string, { objects: number; doubles: number }>;
  operation_ids: string[];
}

export interface WordRow {
  name: string;
  group: string;
  argument: { kind: 'integer'; min: number; max: number; fallback: number } | { kind: 'choice'; values: string[]; fallback: string } | null;
  description: string;
}

export interface PageRow {
  platform: string;
  object_id: string;
  kind: string;
  text: string | null;
  media: MediaRow[];
  created_at: string;
  account: { username: string | null; display_name: string | null };
}
