import { isUtf8 } from 'node:buffer';
import { FILE_NAME_MAX_CHARS, FORM_FIELD_MAX_BYTES, FORM_FIELDS_MAX, FORM_FILES_MAX } from '../../infra/contract/limits.ts';
import { decodeForm } from './decode.ts';
import { malformed, tooLarge, type FormPart } from './part.ts';

/** What a route with a multipart body takes. */
export interface FormRules {
  fileMaxBytes: number;
  /** Text parts that may be given, once each. Others are ignored. */
  fields: readonly string[];
}

export interface Form {
  /** All parts in order: what makes two forms the same. */
  parts: FormPart[];
  file: UploadedFile | null;
  fields: Record<string, string>;
}

export interface UploadedFile {
  /** The client's name for it, for display. */
  name: string;
  /** As declared. */
  type: string | null;
  bytes: Buffer;
}

export const FILE_PART = 'file';

/** A decoded form within the limits of its route. */
export async function readForm(bytes: Buffer, contentType: string, rules: FormRules): Promise<Form> {
  const parts = await decodeForm(bytes, contentType);
  const single = new Set([FILE_PART, ...rules.fields]);
  const seen = new Set<string>();
  const counts = { files: 0, fields: 0 };
  for (const part of parts) {
    if (single.has(part.name) && seen.has(part.name)) throw malformed(`The part ${part.name} is given twice.`);
    seen.add(part.name);
    refuseOver(part, counts, rules);
  }
  const file = parts.find((part) => part.name === FILE_PART && part.fileName !== null);
  return {
    parts,
    file: file === undefined ? null : { name: [...file.fileName!].slice(0, FILE_NAME_MAX_CHARS).join(''), type: file.type, bytes: file.bytes },
    fields: Object.fromEntries(parts.filter((part) => part.fileName === null && rules.fields.includes(part.name)).map((part) => [part.name, textOf(part)])),
  };
}

function refuseOver(part: FormPart, counts: { files: number; fields: number }, rules: FormRules): void {
  if (part.fileName === null) {
    if ((counts.fields += 1) > FORM_FIELDS_MAX) throw tooLarge(`The form has more than ${FORM_FIELDS_MAX} fields.`, FORM_FIELDS_MAX);
    if (part.bytes.length > FORM_FIELD_MAX_BYTES) throw tooLarge(`A field of the form is larger than ${FORM_FIELD_MAX_BYTES} bytes.`, FORM_FIELD_MAX_BYTES);
    return;
  }
  if ((counts.files += 1) > FORM_FILES_MAX) throw tooLarge('The form has more than one file.', FORM_FILES_MAX);
  if (part.bytes.length > rules.fileMaxBytes) throw tooLarge(`The file is larger than ${rules.fileMaxBytes} bytes.`, rules.fileMaxBytes);
}

function textOf({ name, bytes }: FormPart): string {
  if (!isUtf8(bytes)) throw malformed(`The part ${name} is not valid UTF-8.`);
  return bytes.toString('utf8');
}
