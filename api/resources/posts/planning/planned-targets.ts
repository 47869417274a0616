import { ApiError } from '../../../../infra/contract/errors.ts';
import type { Account } from '../../../../infra/db/entities/account.entity.ts';
import type { MediaItem, Post } from '../../../../infra/db/entities/post.entity.ts';
import type { Twin } from '../../../../infra/db/repositories/twins.ts';
import { platformCatalog, type CatalogEntry, type EffectiveOptions, type TextLength } from '../../../../providers/catalog.ts';
import type { Call } from '../../../route.ts';
import { validationError } from '../../../validation/issues.ts';
import { mayAccess } from '../../../workspace-access.ts';
import { duplicateIssue, fingerprintOf, twinsOf } from './duplicates.ts';
import { effectiveOf, readLayers, type Effective, type ReadLayers } from './effective-options.ts';
import { planIssue, type PlanIssue } from './issues.ts';
import { isBlank } from './render.ts';
import type { ResolvedTarget } from './resolve-targets.ts';
import { checkTarget, lengthOf } from './rules.ts';
import type { Schedule } from './schedule.ts';
import { renderFor, type RenderedText, type Rendering, type TextOrigin } from './texts.ts';

/** What one target will publish, and what is to be said about it. */
export interface PlannedTarget extends ResolvedTarget {
  text: string | null;
  textOrigin: TextOrigin;
  media: MediaItem[];
  options: EffectiveOptions;
  length: TextLength;
  fingerprint: string | null;
  /** Null also where the caller may not see it. */
  twin: Twin | null;
  /** Variables of templates. */
  used: readonly string[];
  missing: readonly string[];
  /** Keys of `target_options` that reach it. */
  layerKeys: readonly string[];
  isEmpty: boolean;
  issues: PlanIssue[];
}

interface Plans {
  wish: { media: MediaItem[] | null; allowDuplicate: boolean; postId: string | null };
  rendering: Rendering;
  schedule: Schedule;
}

interface Work extends ReadTarget {
  effective: Effective;
  rendered: RenderedText;
  isDraft: boolean;
}

/** A target with the options that reach it, in the form of its platform. */
export interface ReadTarget extends ResolvedTarget {
  catalog: CatalogEntry;
  read: ReadLayers;
}

/** What the schema cannot judge of `target_options`, because only now it is known which platform a key means. */
export function readTargets(targets: readonly ResolvedTarget[], options: Post['targetOptions']): ReadTarget[] {
  const read = targets.map((target) => ({ ...target, catalog: catalogOf(target.account), read: readLayers(options ?? null, target.account) }));
  const broken = read.flatMap((one) => one.read.issues);
  if (broken.length > 0) throw validationError(broken);
  return read;
}

export async function planTargets(call: Call, read: readonly ReadTarget[], plans: Plans): Promise<PlannedTarget[]> {
  const { wish, rendering, schedule } = plans;
  const planned = read.map((one) => planOne({ ...one, ...contentFor(one, { wish, rendering }), isDraft: schedule.kind === 'draft' }));
  if (schedule.kind === 'draft') return planned.map((target) => ({ ...target, fingerprint: null }));
  const twins = await twinsOf(call.tx, planned, { at: schedule.at ?? call.now, exceptPostId: wish.postId });
  return planned.map((target) => {
    const twin = twins.get(target.account.id);
    if (twin === undefined) return target;
    const shown = mayAccess(call.caller, twin.workspaceId);
    return { ...target, twin: shown ? twin : null, issues: [...target.issues, duplicateIssue(target.account, twin, { allowed: wish.allowDuplicate, shown })] };
  });
}

interface TargetContent {
  effective: Effective;
  rendered: RenderedText;
}

/** What an account is given to publish: options, media and text, each from the layer that says it last. */
function contentFor({ account, catalog, read }: Omit<ReadTarget, 'byId'>, { wish, rendering }: { wish: Pick<Plans['wish'], 'media'>; rendering: Rendering }): TargetContent {
  const effective = effectiveOf(wish, read.layers, catalog);
  return { effective, rendered: renderFor(rendering, account, effective) };
}

function planOne(work: Work): PlannedTarget {
  const { account, byId, catalog, effective, rendered, read, isDraft } = work;
  const { text } = rendered;
  const isEmpty = isBlank(text) && effective.media.length === 0 && !catalog.contentBearing(effective.options, !isBlank(text));
  return {
    account, byId, text, textOrigin: rendered.origin, media: effective.media, options: effective.options, length: lengthOf(work, text),
    fingerprint: fingerprintOf({ text, media: effective.media }), twin: null, used: rendered.used, missing: rendered.missing, isEmpty,
    layerKeys: read.layers.map((layer) => layer.key),
    issues: [...missingIssues(work), ...(isEmpty ? [emptyIssue(account, isDraft)] : checkTarget(work)), ...unusedIssues(work)],
  };
}

export function catalogOf(account: Pick<Account, 'platform'>): CatalogEntry {
  const entry = platformCatalog(account.platform);
  if (entry === null) throw new Error(`an account of ${account.platform} exists without an adapter`);
  return entry;
}

/** Row 7. */
export function refuseUnresolvedVariables(planned: readonly PlannedTarget[]): void {
  const variables = [...new Set(planned.flatMap((target) => target.missing))];
  if (variables.length === 0) return;
  throw new ApiError('TEMPLATE_VARIABLE_UNRESOLVED', `The template asks for ${variables.join(', ')}. Give a value for each in template_variables.`.slice(0, 400), { details: { variables } });
}

/** Row 8. */
export function refuseEmpty(planned: readonly PlannedTarget[]): void {
  const empty = planned.filter((target) => target.isEmpty);
  if (empty.length === 0) return;
  throw new ApiError('CONTENT_REQUIRED', 'Some targets have nothing to publish. Give content or media, or texts of their own in target_options.', { details: { account_ids: empty.map(({ account }) => account.id) } });
}

function missingIssues({ account, rendered, isDraft }: Work): PlanIssue[] {
  if (rendered.missing.length === 0) return [];
  return [planIssue({
    code: 'TEMPLATE_VARIABLE_UNRESOLVED', severity: isDraft ? 'warning' : 'error', account, path: ['template_variables'],
    message: `The template asks for ${rendered.missing.join(', ')}.`.slice(0, 300), fix: 'Give a value for each in template_variables.', details: { variables: rendered.missing },
  })];
}

function emptyIssue(account: Account, isDraft: boolean): PlanIssue {
  return planIssue({ code: 'CONTENT_REQUIRED', severity: isDraft ? 'warning' : 'error', account, path: ['content'], message: 'This target has nothing to publish.', fix: 'Give content or media, or a text of its own in target_options.' });
}

/** Options in a workspace's layer that this platform does not have. */
function unusedIssues({ account, read }: Work): PlanIssue[] {
  return read.unused.map((name) => planIssue({
    code: 'OPTIONS_UNUSED', severity: 'warning', account, path: ['target_options', account.workspaceId!, name],
    message: `${account.platform} has no option ${name}.`, fix: 'Nothing to do if the option is meant for other platforms of the workspace.',
  }));
}

/** A draft as it would be if it went out now. */
export function previewOf(account: Account, post: Pick<Post, 'media' | 'targetOptions'>, rendering: Rendering): { text: string | null; media: MediaItem[]; options: EffectiveOptions } {
  const catalog = catalogOf(account);
  const { effective, rendered } = contentFor({ account, catalog, read: readLayers(post.targetOptions ?? null, account) }, { wish: { media: post.media ?? null }, rendering });
  return { text: rendered.text, media: effective.media, options: effective.options };
}

