/**
 * The error catalog. `retry`: `no` = definite, `wait` = send the same request again after Retry-After,
 * `read` = a read may be repeated, a mutation only with the same key and bytes, `none` = definite and never retried by clients.
 */
export type Retry = 'no' | 'wait' | 'read' | 'none';

interface CatalogEntry {
  status: number;
  retry: Retry;
}

const entry = (status: number, retry: Retry): CatalogEntry => ({ status, retry });

/** Codes that answer over HTTP, each with its status. */
export const ERRORS = {
  BAD_REQUEST: entry(400, 'none'),
  MALFORMED_JSON: entry(400, 'none'),
  MALFORMED_FORM: entry(400, 'none'),
  VALIDATION_ERROR: entry(422, 'none'),
  UNAUTHORIZED: entry(401, 'none'),
  FORBIDDEN: entry(403, 'none'),
  WORKSPACE_ACCESS_DENIED: entry(403, 'none'),
  NOT_FOUND: entry(404, 'none'),
  ACCOUNT_NOT_FOUND: entry(404, 'none'),
  POST_NOT_FOUND: entry(404, 'none'),
  PAYLOAD_TOO_LARGE: entry(413, 'none'),
  UNSUPPORTED_MEDIA_TYPE: entry(415, 'none'),
  UNSUPPORTED_CONTENT_ENCODING: entry(415, 'none'),
  RATE_LIMITED: entry(429, 'wait'),
  IDEMPOTENCY_IN_PROGRESS: entry(409, 'wait'),
  IDEMPOTENCY_KEY_REUSED: entry(409, 'no'),
  IDEMPOTENCY_OUTCOME_UNKNOWN: entry(409, 'no'),
  PROVIDER_OUTCOME_UNKNOWN: entry(409, 'no'),
  PROVIDER_RESPONSE_INVALID: entry(502, 'no'),
  SOCIAL_MUTATION_IN_PROGRESS: entry(409, 'no'),
  PROVIDER_POST_ID_CHANGED: entry(409, 'no'),
  PUBLISHED_EDIT_UNSUPPORTED: entry(422, 'none'),
  MESSAGE_EDIT_UNSUPPORTED: entry(422, 'none'),
  COMMENT_EDIT_UNSUPPORTED: entry(422, 'none'),
  READ_RECEIPT_UNSUPPORTED: entry(422, 'none'),
  DISCORD_THREAD_CONTEXT_MISSING: entry(409, 'no'),
  MODERATION_ACTION_UNSUPPORTED: entry(422, 'none'),
  ACTION_UNSUPPORTED: entry(422, 'none'),
  WHATSAPP_GROUPS_UNAVAILABLE: entry(422, 'none'),
  WHATSAPP_PROVIDER_RESPONSE_INVALID: entry(502, 'no'),
  ADS_APPROVAL_REQUIRED: entry(422, 'none'),
  UNSUPPORTED_FEATURE: entry(422, 'none'),
  UPLOAD_METADATA_MISMATCH: entry(400, 'none'),
  MEDIA_PROCESSING_UNAVAILABLE: entry(503, 'no'),
  MEDIA_PROCESSING_TYPE_UNSUPPORTED: entry(422, 'none'),
  INTERNAL_ERROR: entry(500, 'read'),

  METHOD_NOT_ALLOWED: entry(405, 'none'),
  REQUEST_TIMEOUT: entry(408, 'read'),
  URI_TOO_LONG: entry(414, 'none'),
  HEADERS_TOO_LARGE: entry(431, 'none'),
  INVALID_IDEMPOTENCY_KEY: entry(400, 'none'),
  INVALID_CURSOR: entry(400, 'none'),
  LIVE_KEY_REQUIRED: entry(403, 'none'),
  TEST_KEY_REQUIRED: entry(403, 'none'),
  QUOTA_EXCEEDED: entry(403, 'none'),
  PLAN_UPGRADE_REQUIRED: entry(403, 'none'),
  LIMIT_REACHED: entry(409, 'no'),
  CONFLICT: entry(409, 'no'),
  INVALID_STATE: entry(409, 'no'),
  REVISION_CONFLICT: entry(409, 'no'),
  SELF_LOCKOUT: entry(409, 'no'),
  SLUG_CONFLICT: entry(409, 'no'),
  EMAIL_TAKEN: entry(409, 'no'),
  LAST_OWNER: entry(409, 'no'),
  WORKSPACE_ID_REQUIRED: entry(400, 'none'),
  WORKSPACE_SCOPE_CONFLICT: entry(400, 'none'),
  WORKSPACE_NOT_ACTIVE: entry(409, 'no'),
  WORKSPACE_SLUG_CONFLICT: entry(409, 'no'),
  WORKSPACE_VERSION_CONFLICT: entry(409, 'no'),
  WORKSPACE_LIFECYCLE_CONFLICT: entry(409, 'no'),
  WORKSPACE_MUST_BE_ARCHIVED: entry(409, 'no'),
  ORG_SETTINGS_VERSION_CONFLICT: entry(409, 'no'),
  WORKSPACE_SCOPE_BLOCKERS: entry(409, 'no'),
  INVALID_INVITE_TOKEN: entry(400, 'none'),
  INVITE_TOKEN_USED: entry(409, 'no'),
  INVITE_TOKEN_EXPIRED: entry(410, 'none'),
  INVITE_EMAIL_MISMATCH: entry(403, 'none'),
  INVITE_ISSUER_NO_LONGER_AUTHORIZED: entry(403, 'none'),
  INVITE_WORKSPACE_SCOPE_NO_LONGER_VALID: entry(403, 'none'),
  PROVIDER_ERROR: entry(502, 'no'),
  PROVIDER_TIMEOUT: entry(504, 'read'),
  SERVICE_UNAVAILABLE: entry(503, 'wait'),

  INVALID_TARGETS: entry(400, 'none'),
  CONTENT_REQUIRED: entry(400, 'none'),
  INVALID_MEDIA_URL: entry(400, 'none'),
  MEDIA_NOT_READY: entry(400, 'none'),
  MEDIA_NOT_FOUND: entry(404, 'none'),
  TARGET_NOT_FOUND: entry(404, 'none'),
  POST_PUBLISHING: entry(409, 'no'),
  ACCOUNT_DISCONNECTED: entry(409, 'no'),
  ACCOUNT_RECONNECT_REQUIRED: entry(409, 'no'),
  ACCOUNT_WORKSPACE_IN_USE: entry(409, 'no'),
  METADATA_KEY_RESERVED: entry(400, 'none'),
  PREFLIGHT_FAILED: entry(422, 'none'),
  TEMPLATE_NOT_FOUND: entry(404, 'none'),
  TAG_NOT_FOUND: entry(404, 'none'),
  TAG_NAME_TAKEN: entry(409, 'no'),
  TEMPLATE_VARIABLE_UNRESOLVED: entry(400, 'none'),
  NO_SLOT: entry(404, 'none'),
  NO_SLOT_AVAILABLE: entry(409, 'no'),
  CSV_EMPTY: entry(400, 'none'),
  CSV_TOO_MANY_ROWS: entry(400, 'none'),
  CSV_TOO_MANY_COLUMNS: entry(400, 'none'),
  CSV_HEADER_INVALID: entry(400, 'none'),
  CSV_MALFORMED: entry(400, 'none'),
  CSV_ENCODING_INVALID: entry(400, 'none'),
  OPERATION_NOT_UNKNOWN: entry(409, 'no'),
  VERDICT_CONFLICT: entry(409, 'no'),
  PROBE_UNAVAILABLE: entry(422, 'none'),
} as const satisfies Record<string, CatalogEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** Codes that only rows of a CSV file have, beside those of a creation. */
export const ROW_CODES = ['CSV_CELL_INVALID', 'CSV_CELL_TOO_LONG', 'CSV_ROW_WIDTH'] as const;
export type RowCode = (typeof ROW_CODES)[number];

/** Codes that live in targets and operations. `retry`: may `POST /retry` succeed unchanged (`yes`), after a change (`fix`), or not (`no`). */
export const OUTCOME_CODES = {
  PROVIDER_OUTCOME_UNKNOWN: 'no',
  PROVIDER_RESPONSE_INVALID: 'no',
  PROVIDER_PROVED_ABSENT: 'yes',
  VERDICT_DID_NOT_HAPPEN: 'yes',
  STEPS_REMAINING: 'yes',
  PROVIDER_REJECTED: 'fix',
  CONTENT_REJECTED: 'fix',
  CONTENT_TOO_LONG: 'fix',
  DUPLICATE_CONTENT: 'fix',
  RECIPIENT_REJECTED: 'fix',
  DESTINATION_UNAVAILABLE: 'fix',
  MEDIA_REJECTED: 'fix',
  MEDIA_PROCESSING_FAILED: 'yes',
  MEDIA_NOT_READY: 'fix',
  MEDIA_TYPE_AMBIGUOUS: 'fix',
  INVALID_MEDIA_TYPE: 'fix',
  FILE_TOO_LARGE: 'fix',
  OPTION_INVALID: 'fix',
  OPTION_UNSUPPORTED: 'fix',
  TOKEN_EXPIRED: 'fix',
  TOKEN_REVOKED: 'fix',
  PERMISSION_MISSING: 'fix',
  ACCOUNT_RESTRICTED: 'fix',
  ACCOUNT_DISCONNECTED: 'fix',
  ACCOUNT_RECONNECT_REQUIRED: 'fix',
  CANCELLED: 'yes',
  SUPERSEDED: 'no',
  OBJECT_NOT_FOUND: 'fix',
  RATE_LIMITED: 'yes',
  PLATFORM_QUOTA_EXCEEDED: 'yes',
  PROVIDER_UNREACHABLE: 'yes',
  PLATFORM_UNAVAILABLE: 'yes',
  OPERATION_EXPIRED: 'yes',
  SCHEDULE_MISSED: 'yes',
} as const satisfies Record<string, 'yes' | 'fix' | 'no'>;

export type OutcomeCode = keyof typeof OUTCOME_CODES;

export type IssueCode = 'required' | 'invalid_type' | 'invalid_value' | 'invalid_string' | 'too_small' | 'too_big' | 'unrecognized_keys' | 'custom';

export interface Issue {
  code: IssueCode | string;
  message: string;
  path: (string | number)[];
  in?: 'body' | 'query' | 'path' | 'header';
  [more: string]: unknown;
}

/** Thrown where a request must be answered with an error; `api/error-reply.ts` is the only writer of error bodies. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Record<string, unknown> | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, more: { details?: Record<string, unknown>; headers?: Record<string, string>; status?: number; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.name = 'ApiError';
    this.code = code;
    this.status = more.status ?? ERRORS[code].status;
    this.details = more.details;
    this.headers = more.headers ?? {};
  }
}
