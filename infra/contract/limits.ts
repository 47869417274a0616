/** Every number of the contract, once. */
export const PAGE_LIMIT_MAX = 100;
export const PAGE_LIMIT_DEFAULT = 20;
export const CURSOR_MAX_CHARS = 2048;

export const JSON_BODY_MAX_BYTES = 4_194_304;
export const PUBLIC_JSON_BODY_MAX_BYTES = 16_384;
export const JSON_DEPTH_MAX = 32;
export const JSON_VALUES_MAX = 20_000;
export const OVERFLOW_DRAIN_MAX_BYTES = 65_536;
export const MAP_KEY_MAX_CHARS = 255;

export const BOUNDARY_MAX_CHARS = 70;
export const FORM_PARTS_MAX = 20;
export const FORM_FILES_MAX = 1;
export const FORM_FIELDS_MAX = 16;
export const FORM_NAME_MAX_BYTES = 100;
export const FORM_FIELD_MAX_BYTES = 65_536;
export const FORM_HEADERS_MAX_BYTES = 8_192;
export const FILE_NAME_MAX_CHARS = 255;

export const URL_MAX_BYTES = 8192;
export const HEADERS_MAX_BYTES = 16_384;

export const ISSUES_SHOWN_MAX = 50;
export const ISSUES_COUNTED_MAX = 1000;
export const ISSUE_MESSAGE_MAX_CHARS = 300;
export const ERROR_MESSAGE_MAX_CHARS = 500;
export const ECHO_MAX_CHARS = 64;

export const HEADERS_TIMEOUT_MS = 10_000;
export const BODY_TIMEOUT_MS = 60_000;
export const DATABASE_CONNECTION_TIMEOUT_MS = 5_000;
export const STATEMENT_TIMEOUT_MS = 10_000;
export const REQUEST_TRANSACTION_TIMEOUT_MS = 30_000;
export const COMMIT_INQUIRY_TIMEOUT_MS = 5_000;
export const KEEP_ALIVE_MS = 65_000;
export const OPEN_REQUESTS_MAX = 1_000;
export const DRAIN_REQUESTS_MS = 25_000;

export const IDEMPOTENCY_KEY_PATTERN = /^[A-Za-z0-9._:-]{8,255}$/;
export const RECEIPT_RETENTION_DAYS = 30;
/** Of the reply of a mutation, before it is compressed: a receipt must be able to keep it. */
export const MUTATION_REPLY_MAX_BYTES = 16_777_216;

export const PROVIDER_ANSWER_MAX_BYTES = 2_097_152;
export const PROVIDER_TEXT_MAX_CHARS = 4096;
export const REMOTE_MEDIA_MAX_BYTES = 10_000_000_000;

export const SCHEDULE_AHEAD_MAX_MS = 30 * 86_400_000;
export const SCHEDULE_PAST_GRACE_MS = 300_000;
export const TARGET_SELECTORS_MAX = 100;
/** Of ids and selectors. */
export const ID_MAX_CHARS = 64;
export const TARGETS_MAX = 100;
export const CONTENT_MAX_CHARS = 100_000;
export const NOTES_MAX_CHARS = 10_000;
export const MEDIA_MAX_ITEMS = 50;
export const MEDIA_URL_MAX_CHARS = 2_048;
export const ALT_TEXT_MAX_CHARS = 2_000;
export const MIME_TYPE_MAX_CHARS = 255;
export const OPTION_KEYS_MAX = 200;
export const OPTION_VALUE_MAX_BYTES = 65_536;
export const CATCH_UP_LATENESS_MAX_SECONDS = 2_592_000;
export const CATCH_UP_LATENESS_DEFAULT_SECONDS = 86_400;
export const CATCH_UP_GAP_MS = 60_000;
export const CATCH_UP_LATE_AFTER_MS = 300_000;
/** From this share of the units on, preflight warns. */
export const QUOTA_NEARLY_USED = 0.8;
export const POST_WAIT_MAX_SECONDS = 30;
export const BULK_POSTS_MAX = 50;
export const BULK_STARTS_PER_SECOND = 10;
export const CSV_BODY_MAX_BYTES = 2_097_152;
export const CSV_FILE_MAX_BYTES = 1_048_576;
export const CSV_ROWS_MAX = 500;
/** Of all rows together. */
export const CSV_TARGETS_MAX = 10_000;
export const CSV_COLUMNS_MAX = 64;
export const CSV_CELL_MAX_CHARS = 10_000;
export const EXTERNAL_ID_MAX_CHARS = 200;
/** How long what happened to a deleted post can still be read. */
export const DELETED_POST_READABLE_MS = 90 * 86_400_000;
export const BUNDLE_MAX_BYTES = 8 * 1_048_576;
/** What stays of a text where a bundle would not fit otherwise. */
export const BUNDLE_TEXT_MAX_CHARS = 1_000;

export const QUEUE_SCHEDULES_MAX = 20;
export const QUEUE_SLOTS_MAX = 168;
export const QUEUE_NAME_MAX_CHARS = 100;
export const QUEUE_PREVIEW_MAX = 50;
export const QUEUE_PREVIEW_DEFAULT = 10;
export const FIND_SLOT_ACCOUNTS_MAX = 20;
export const FIND_SLOT_COUNT_MAX = 10;
/** The earliest slot that `auto` takes lies this far ahead. */
export const AUTO_AHEAD_MIN_MS = 300_000;
export const AUTO_GAP_MIN_SECONDS = 600;
export const AUTO_ALTERNATIVES_SHOWN_MAX = 3;
export const AUTO_SKIPPED_SHOWN_MAX = 10;
export const HISTORY_POSTS_OF_HOUR_MIN = 3;
export const HISTORY_POSTS_OF_ACCOUNT_MIN = 10;
export const HISTORY_BEST_HOURS = 10;
/** The span in which a daily budget counts. */
export const PACING_WINDOW_MS = 86_400_000;

export const SIGNATURE_NAME_MAX_CHARS = 200;
export const SIGNATURE_CONTENT_MAX_CHARS = 2_000;
export const SIGNATURES_MAX = 200;
export const TEMPLATE_NAME_MAX_CHARS = 200;
export const TEMPLATE_DESCRIPTION_MAX_CHARS = 1_000;
export const TEMPLATE_CONTENT_MAX_CHARS = 10_000;
export const TEMPLATE_TAGS_MAX = 20;
export const TEMPLATE_TAG_MAX_CHARS = 50;
export const TEMPLATES_MAX = 1_000;
export const TEMPLATE_VARIABLES_MAX = 50;
export const TEMPLATE_VALUE_MAX_CHARS = 5_000;
export const TAG_NAME_MAX_CHARS = 100;
export const TAGS_MAX = 1_000;
export const TAGS_OF_POST_MAX = 20;

export const OPERATION_WAIT_MAX_SECONDS = 25;
export const OPERATION_WAIT_DEFAULT_SECONDS = 10;
export const VERDICT_REASON_MAX_CHARS = 2_000;
export const SUMMARY_COUNT_MAX = 10_000;
export const TIMELINE_SHOWN_MAX = 100;
export const EVIDENCE_SHOWN_MAX = 20;
export const PROBE_GAP_MS = 60_000;
export const PROBES_PER_DAY_MAX = 20;
export const KEYED_SENDS_MAX = 3;

export const PATIENCE_MS = { publish: 6 * 3_600_000, audience_send: 24 * 3_600_000, ad_report: 24 * 3_600_000, other: 15 * 60_000 } as const;
/** Waits after a request of which no byte left, and after failed reads and private steps. */
export const AGAIN_AFTER_MS = [5_000, 15_000, 60_000, 300_000] as const;
/** Waits after a rate limit that names no time. */
export const RATE_LIMIT_AFTER_MS = [30_000, 120_000, 600_000, 1_800_000] as const;
export const RETRY_AFTER_HONOURED_MS = 6 * 3_600_000;
/** Automatic reads of the platform after an outcome became unknown. */
export const PROBE_AFTER_MS = [
  15_000, 60_000, 300_000, 900_000, 3_600_000, 3 * 3_600_000, 6 * 3_600_000, 12 * 3_600_000,
  ...[1, 2, 3, 4, 5, 6, 7, 10, 14, 21, 30].map((day) => day * 86_400_000),
] as const;
export const SANDBOX_PROBE_AFTER_MS = [1_000, 3_000, 8_000, 20_000, 45_000, 75_000] as const;
/** Every finite wait before absence is concluded is this long for sandbox accounts. */
export const SANDBOX_ABSENCE_AFTER_MS = 60_000;
export const SANDBOX_SHORT_WAIT_MS = 1_000;

export const UNITS = { free: 200, pro: 10_000 } as const;
export const REQUESTS_PER_MINUTE = { free: { key: 50, organization: 100 }, pro: { key: 500, organization: 1_000 } } as const;
export const FAILED_AUTHENTICATIONS_PER_MINUTE = 60;
export const PUBLIC_REQUESTS_PER_MINUTE = 100;
