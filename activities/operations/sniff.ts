/** The MIME type that the first bytes of a file show, or null. */
export function sniff(head: Buffer): string | null {
  const ascii = (from: number, to: number) => head.subarray(from, to).toString('latin1');
  if (head.length < 12) return null;
  if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'image/jpeg';
  if (ascii(0, 8) === '\x89PNG\r\n\x1a\n') return 'image/png';
  if (ascii(0, 4) === 'GIF8') return 'image/gif';
  if (ascii(0, 4) === 'RIFF' && ascii(8, 12) === 'WEBP') return 'image/webp';
  if (ascii(0, 4) === 'RIFF' && ascii(8, 12) === 'WAVE') return 'audio/wav';
  if (ascii(0, 5) === '%PDF-') return 'application/pdf';
  if (ascii(0, 4) === '\x1a\x45\xdf\xa3') return 'video/webm';
  if (ascii(0, 4) === 'OggS') return 'audio/ogg';
  if (ascii(0, 3) === 'ID3') return 'audio/mpeg';
  return ascii(4, 8) === 'ftyp' ? isoBrand(ascii(8, 12)) : null;
}

function isoBrand(brand: string): string {
  if (brand.startsWith('avi')) return 'image/avif';
  if (brand.startsWith('hei') || brand.startsWith('mif')) return 'image/heic';
  if (brand.startsWith('qt')) return 'video/quicktime';
  return brand.startsWith('M4A') ? 'audio/mp4' : 'video/mp4';
}
