import type { Account } from '../../../../infra/db/entities/account.entity.ts';
import type { FrozenSignature, TextSource } from '../../../../infra/db/entities/post.entity.ts';
import { refuseOverlong } from '../../content-templates/expanded-length.ts';
import { expandVariables } from '../../content-templates/variables.ts';
import { withSignature } from '../../signatures/apply-signature.ts';
import type { Effective } from './effective-options.ts';
import { isBlank } from './render.ts';

export type TextOrigin = 'target_options.account' | 'target_options.workspace' | 'target_options.platform' | 'content' | 'template_override' | 'template' | 'none';

/** Everything that texts are made of besides the account they go to. */
export interface Rendering {
  source: TextSource;
  signature: Pick<FrozenSignature, 'content' | 'position'> | null;
  /** `YYYY-MM-DD` of the publication in the post's time zone. */
  date: string;
}

export interface RenderedText {
  text: string | null;
  origin: TextOrigin;
  /** The text without its signature. */
  body: string | null;
  used: readonly string[];
  missing: readonly string[];
}

type Named = Pick<Account, 'platform' | 'username' | 'displayName' | 'displayNameOverride'>;

/** What `{{account_name}}` stands for. */
export function accountName(account: Named): string {
  return [account.displayNameOverride, account.displayName, account.username].find((name) => !isBlank(name)) ?? account.platform;
}

/** The text of one target: its own, else the shared one, with variables where a template speaks, and with the signature. */
export function renderFor(rendering: Rendering, account: Named, effective: Effective): RenderedText {
  const { source } = rendering;
  if (effective.ownText !== null) return finished(rendering, { body: effective.ownText, origin: ownOrigin(effective), used: [], missing: [] });
  if (source.kind === 'none' || source.text === null) return finished(rendering, { body: null, origin: 'none', used: [], missing: [] });
  if (source.kind === 'content') return finished(rendering, { body: source.text, origin: 'content', used: [], missing: [] });
  const override = source.overrides?.[account.platform];
  const { text, used, missing } = expandVariables(override ?? source.text, valuesOf(rendering, accountName(account)));
  refuseOverlong(text, 'template_variables');
  return finished(rendering, { body: text, origin: override === undefined ? 'template' : 'template_override', used, missing });
}

/** The shared text as the post shows it; the name of the account is put in where all targets have the same. */
export function renderShared(rendering: Rendering, accounts: readonly Named[]): string | null {
  const { source, signature } = rendering;
  if (source.text === null) return null;
  if (source.kind !== 'template') return withSignature(source.text, signature);
  const names = new Set(accounts.map(accountName));
  const [only] = names;
  const { text } = expandVariables(source.text, valuesOf(rendering, names.size === 1 ? only! : null));
  refuseOverlong(text, 'template_variables');
  return withSignature(text, signature);
}

/** What the caller gives wins over what is built in. */
function valuesOf({ source, date }: Rendering, name: string | null): Record<string, string> {
  return { date, ...(name === null ? {} : { account_name: name }), ...source.variables };
}

function finished({ signature }: Rendering, made: Omit<RenderedText, 'text'>): RenderedText {
  const { body } = made;
  return { ...made, text: body === null || body === '' ? null : withSignature(body, signature) };
}

function ownOrigin({ originOf }: Effective): TextOrigin {
  const key = originOf('content')?.key ?? '';
  if (key.startsWith('acc_')) return 'target_options.account';
  return key.startsWith('ws_') ? 'target_options.workspace' : 'target_options.platform';
}
