import type { Capabilities, CheckTarget, CheckedMedia, Combination, ContentTypeRules, KindRules, MediaKind } from './catalog-entry.ts';
import type { IssueList } from './issues.ts';
import { codePoints } from './text.ts';

const KINDS = ['image', 'video', 'gif', 'document'] as const;
const NOT_SUPPORTED: Partial<Record<MediaKind, string>> = { image: 'IMAGES_NOT_SUPPORTED', video: 'VIDEOS_NOT_SUPPORTED' };
const TOO_MANY: Partial<Record<MediaKind, string>> = { image: 'TOO_MANY_IMAGES', video: 'TOO_MANY_VIDEOS' };

/** Section 34: counts, mix and the limits of each file; alt texts. */
export function checkMedia(list: IssueList, target: CheckTarget, capabilities: Capabilities): void {
  const contentType = capabilities.contentTypes.find((one) => one.name === target.options['content_type']) ?? capabilities.contentTypes[0];
  if (contentType === undefined) return;
  checkCounts(list, target.media, contentType);
  for (const [index, media] of target.media.entries()) {
    const rules = contentType.kinds.find((one) => one.kind === media.type);
    if (media.type === null) warnAmbiguous(list, index);
    else if (rules !== undefined) checkFile({ list, index, media, rules });
    checkAltText({ list, index, media, target, capabilities });
  }
  checkAltTextCount(list, target);
}

/** What the item's own text or the option of its position says; `""` means that none is wanted. */
export function altTextAt(options: CheckTarget['options'], index: number, own: string | null | undefined): string | null {
  const given: unknown = options['alt_texts']?.[index] ?? own;
  return typeof given === 'string' && given !== '' ? given : null;
}

function checkCounts(list: IssueList, media: readonly CheckedMedia[], contentType: ContentTypeRules): void {
  const counts = Object.fromEntries(KINDS.map((kind) => [kind, media.filter((one) => one.type === kind).length])) as Record<MediaKind, number>;
  const open = media.some((one) => one.type === null);
  const combinations = contentType.media.length === 0 ? [{}] : contentType.media;
  const bad = (code: string, details: Record<string, unknown>, message: string) =>
    list.error({ code, message, fix: 'Change the media of this target, for example with target_options.media.', path: ['media'], details });
  for (const kind of KINDS) {
    const most = Math.max(...combinations.map((one) => one[kind]?.max ?? 0));
    if (counts[kind] > 0 && most === 0) return bad(NOT_SUPPORTED[kind] ?? 'UNSUPPORTED_MEDIA_TYPE', { kind, value: counts[kind], limit: 0, accepted: acceptedKinds(combinations) }, `This platform takes no ${kind} here.`);
    if (counts[kind] > most) return bad(TOO_MANY[kind] ?? 'TOO_MANY_MEDIA', { kind, value: counts[kind], limit: most }, `${counts[kind]} × ${kind}, but at most ${most} fit into one post.`);
  }
  const most = Math.max(...combinations.map(totalMax));
  if (media.length > most) return bad('TOO_MANY_MEDIA', { value: media.length, limit: most }, `${media.length} files, but at most ${most} fit into one post.`);
  if (open || combinations.some((one) => matches(one, counts, media.length))) return;
  if (media.length === 0) return missing(list, combinations);
  bad('INVALID_MEDIA_MIX', { value: media.map((one) => one.type) }, 'These files cannot be in one post together.');
}

function missing(list: IssueList, combinations: readonly Combination[]): void {
  const kinds = acceptedKinds(combinations);
  const code = kinds.length === 1 && kinds[0] === 'video' ? 'VIDEO_REQUIRED' : 'MEDIA_REQUIRED';
  list.error({ code, message: `This kind of post needs media: ${kinds.join(', ')}.`, fix: 'Add a file.', path: ['media'], details: { accepted: kinds } });
}

function acceptedKinds(combinations: readonly Combination[]): MediaKind[] {
  return KINDS.filter((kind) => combinations.some((one) => (one[kind]?.max ?? 0) > 0));
}

function totalMax(combination: Combination): number {
  return combination.total?.max ?? KINDS.reduce((sum, kind) => sum + (combination[kind]?.max ?? 0), 0);
}

function matches(combination: Combination, counts: Record<MediaKind, number>, total: number): boolean {
  const fits = (value: number, range = { min: 0, max: 0 }) => value >= range.min && value <= range.max;
  return KINDS.every((kind) => fits(counts[kind], combination[kind])) && (combination.total === undefined || fits(total, combination.total));
}

function warnAmbiguous(list: IssueList, index: number): void {
  list.warning({ code: 'MEDIA_TYPE_AMBIGUOUS', message: 'Nothing says what kind of file this is; it is measured when publishing.', fix: 'Give the media item a type.', path: ['media', index], details: { index } });
}

type Breach = [code: string, value: number, limit: number];

function checkFile({ list, index, media, rules }: { list: IssueList; index: number; media: CheckedMedia; rules: KindRules }): void {
  const path = ['media', index];
  if (media.mime_type != null && !rules.mimeTypes.includes(media.mime_type)) {
    list.error({ code: 'UNSUPPORTED_MEDIA_TYPE', message: `${media.mime_type} is not accepted as ${rules.kind}.`, fix: `Use one of ${rules.mimeTypes.join(', ')}.`, path, details: { index, kind: rules.kind, value: media.mime_type, accepted: rules.mimeTypes } });
  }
  for (const [code, value, limit] of breaches(media, rules)) {
    const issue = { code, message: `${rules.kind}: ${value} is outside the limit of ${limit}.`, fix: 'Use another file, or have this one converted.', path, details: { index, kind: rules.kind, value, limit } };
    if (media.measured === false) list.warning(issue);
    else list.error(issue);
  }
  const known = media.bytes != null || media.width != null || media.duration_ms != null;
  if (media.measured === false && !known) list.warning({ code: 'MEDIA_FACTS_UNKNOWN', message: 'The file is measured when publishing.', fix: 'Upload it, or give width, height and duration_ms.', path, details: { index } });
}

function breaches(media: CheckedMedia, rules: KindRules): Breach[] {
  const found: Breach[] = [];
  const above = (code: string, value: number | null | undefined, limit: number | undefined) => value != null && limit !== undefined && value > limit && found.push([code, value, limit]);
  const below = (code: string, value: number | null | undefined, limit: number | undefined) => value != null && limit !== undefined && value < limit && found.push([code, value, limit]);
  const { width, height } = media;
  const both = width != null && height != null && height > 0;
  above('FILE_TOO_LARGE', media.bytes, rules.maxBytes);
  below('DIMENSIONS_TOO_SMALL', width, rules.minWidth);
  below('DIMENSIONS_TOO_SMALL', height, rules.minHeight);
  above('DIMENSIONS_TOO_LARGE', width, rules.maxWidth);
  above('DIMENSIONS_TOO_LARGE', height, rules.maxHeight);
  above('DIMENSIONS_TOO_LARGE', both ? width * height : null, rules.maxPixels);
  above('ASPECT_RATIO_UNSUPPORTED', both ? width / height : null, rules.maxAspect);
  below('ASPECT_RATIO_UNSUPPORTED', both ? width / height : null, rules.minAspect);
  below('DURATION_TOO_SHORT', media.duration_ms, rules.minDurationMs);
  above('DURATION_TOO_LONG', media.duration_ms, rules.maxDurationMs);
  return found;
}

function checkAltText({ list, index, media, target, capabilities }: { list: IssueList; index: number; media: CheckedMedia; target: CheckTarget; capabilities: Capabilities }): void {
  const { supported, kinds, max } = capabilities.altText;
  const text = altTextAt(target.options, index, media.alt_text);
  const path = ['media', index, 'alt_text'];
  const possible = supported && (media.type === null || kinds.includes(media.type));
  if (text === null) {
    if (possible && media.type === 'image') list.info({ code: 'ALT_TEXT_MISSING', message: 'This image has no alternative text.', fix: 'Describe it in alt_text.', path, details: { index } });
    return;
  }
  if (!possible) return list.warning({ code: 'ALT_TEXT_UNSUPPORTED', message: 'The alternative text is not sent.', fix: 'Leave it, or remove it.', path, details: { index, kind: media.type } });
  const length = codePoints(text);
  if (max !== null && length > max) list.error({ code: 'ALT_TEXT_TOO_LONG', message: `The alternative text has ${length} characters, ${max} are allowed.`, fix: 'Shorten it.', path, details: { index, length, limit: max } });
}

function checkAltTextCount(list: IssueList, { options, media }: CheckTarget): void {
  const given: unknown[] = options['alt_texts'] ?? [];
  if (given.length <= media.length) return;
  list.option({ code: 'OPTION_INVALID', rule: 'ALT_TEXTS_TOO_MANY', option: 'alt_texts', message: `${given.length} alternative texts for ${media.length} files.`, fix: 'Give at most one per file.' });
}
