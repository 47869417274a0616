import { readFileSync } from 'node:fs';
import { json, type Reply } from './reply.ts';

const TYPES: Readonly<Record<string, string>> = {
  'image.jpg': 'image/jpeg', 'image-2.jpg': 'image/jpeg', 'image.png': 'image/png', 'animation.gif': 'image/gif', 'video.mp4': 'video/mp4',
  'document.pdf': 'application/pdf', 'audio.mp3': 'audio/mpeg',
};

const read = new Map<string, Buffer>();

/** A small real file of each kind: for first posts, and in place of media that the sandbox does not keep. */
export function sampleReply(name: string): Reply {
  const type = TYPES[name];
  if (type === undefined) return json(404, { error: 'no such sample' });
  let content = read.get(name);
  if (content === undefined) {
    content = readFileSync(new URL(`./samples/${name}`, import.meta.url));
    read.set(name, content);
  }
  return { status: 200, headers: { 'content-type': type, 'cache-control': 'public, max-age=86400' }, body: content };
}

/** The sample that stands for a media of this type. */
export function sampleFor(mimeType: string): string {
  if (mimeType === 'image/gif') return 'animation.gif';
  if (mimeType === 'image/png') return 'image.png';
  if (mimeType.startsWith('video/')) return 'video.mp4';
  if (mimeType.startsWith('audio/')) return 'audio.mp3';
  return mimeType === 'application/pdf' ? 'document.pdf' : 'image.jpg';
}
