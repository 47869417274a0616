import { ApiError } from '../../../infra/contract/errors.ts';
import { SIGNATURES_MAX } from '../../../infra/contract/limits.ts';
import type { Signature } from '../../../infra/db/entities/signature.entity.ts';
import { lockLibrary } from '../../../infra/db/repositories/library-lock.ts';
import {
  countSignatures, deleteSignature, findApplicableSignature, findSignature, insertSignature, listSignatures, unsetDefaultSignature,
} from '../../../infra/db/repositories/signatures.ts';
import { refuseBeyond } from '../../library-limit.ts';
import { libraryClauses } from '../../library.ts';
import { allOf, pageReply, windowClause } from '../../page.ts';
import { applyChange, refuseStaleRevision } from '../../revision.ts';
import type { Call, Reply } from '../../route.ts';
import { assertLibraryAccess, assertLibraryChange, assertNamedWorkspace, onlyWorkspace, workspaceOfNewInLibrary } from '../../workspace-access.ts';
import { presentSignature } from './signatures.present.ts';

export async function list(call: Call): Promise<Reply> {
  const { order, ...window } = windowClause(call.window!, { time: 's.created_at', id: 's.id' });
  const rows = await listSignatures(call.tx, { ...allOf([...await libraryClauses(call, 's.workspace_id'), window]), order });
  return pageReply(call, { rows, position: (row) => ({ at: row.createdAt, id: row.id }), present: (page) => page.map(presentSignature) });
}

export async function create(call: Call): Promise<Reply> {
  const { tx, body, caller, now } = call;
  const workspaceId = await workspaceOfNewInLibrary(call);
  await lockLibrary(tx, 'signature');
  refuseBeyond({ resource: 'signature', limit: SIGNATURES_MAX }, await countSignatures(tx));
  const { name, content, position, is_default: isDefault } = body;
  const signature = insertSignature(tx, { organizationId: caller.organizationId, mode: caller.mode, workspaceId, name, content, position, isDefault }, now);
  if (isDefault) await unsetDefaultSignature(tx, signature, now);
  return { ...shown(signature), status: 201, headers: { Location: `/v1/signatures/${signature.id}` } };
}

/** The one that new texts of a workspace get, or without a workspace those of the organization. */
export async function readDefault(call: Call): Promise<Reply> {
  const given: string | undefined = call.query.workspace_id;
  if (given !== undefined) await assertNamedWorkspace(call, given, 'read');
  const signature = await findApplicableSignature(call.tx, given ?? onlyWorkspace(call.caller));
  if (signature === null) throw new ApiError('NOT_FOUND', 'No signature is the default here.', { details: { resource: 'signature' } });
  return shown(signature);
}

export async function read(call: Call): Promise<Reply> {
  const signature = known(await findSignature(call.tx, call.params.id!));
  assertLibraryAccess(call.caller, signature.workspaceId ?? null, 'read');
  return shown(signature);
}

export async function patch(call: Call): Promise<Reply> {
  const signature = await toChange(call);
  const { name, content, position, is_default, expected_revision } = call.body;
  refuseStaleRevision(signature, expected_revision);
  return changed(call, signature, { name, content, position, isDefault: is_default });
}

export async function setDefault(call: Call): Promise<Reply> {
  return changed(call, await toChange(call), { isDefault: true });
}

export async function unsetDefault(call: Call): Promise<Reply> {
  return changed(call, await toChange(call), { isDefault: false });
}

export async function remove(call: Call): Promise<Reply> {
  await deleteSignature(call.tx, await toChange(call));
  return { status: 204 };
}

async function toChange(call: Call): Promise<Signature> {
  await lockLibrary(call.tx, 'signature');
  const signature = known(await findSignature(call.tx, call.params.id!, { forUpdate: true }));
  await assertLibraryChange(call, signature.workspaceId ?? null);
  return signature;
}

async function changed(call: Call, signature: Signature, wished: Partial<Signature>): Promise<Reply> {
  if (wished.isDefault === true && !signature.isDefault) await unsetDefaultSignature(call.tx, signature, call.now);
  applyChange(signature, wished, call.now);
  return shown(signature);
}

function known(signature: Signature | null): Signature {
  if (signature === null) throw new ApiError('NOT_FOUND', 'There is no signature with this id. It was deleted, belongs to the other mode, or never was.', { details: { resource: 'signature' } });
  return signature;
}

function shown(signature: Signature): Reply {
  return { status: 200, body: presentSignature(signature), workspaceIds: [signature.workspaceId ?? null] };
}
