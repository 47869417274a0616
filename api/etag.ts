/** `If-None-Match`: a list or `*`, compared weakly. */
export function isNotModified(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const weak = (tag: string) => tag.trim().replace(/^W\//, '');
  return header.trim() === '*' || (header.match(/(?:W\/)?"[^"]*"/g) ?? []).some((tag) => weak(tag) === weak(etag));
}
