/** What is known of a media item before anything was fetched. */
export interface MediaHints {
  url: string;
  type?: MediaType | null;
  mime_type?: string | null;
}

export type MediaType = 'image' | 'video' | 'gif' | 'document';

const EXTENSIONS: Readonly<Record<MediaType, string>> = {
  image: 'jpg jpeg jpe jfif pjpeg png apng webp heic heif avif bmp tif tiff',
  gif: 'gif',
  video: 'mp4 m4v mov qt webm mpg mpeg mpe avi mkv wmv flv 3gp 3g2 ogv ts mts m2ts',
  // Audio is carried as a document; a platform that has audio messages decides by the MIME type.
  document: 'pdf doc docx ppt pptx xls xlsx odt odp ods rtf txt csv epub mp3 m4a aac ogg oga opus wav flac amr',
};
const BY_EXTENSION = new Map(Object.entries(EXTENSIONS).flatMap(([type, list]) => list.split(' ').map((extension) => [extension, type as MediaType])));

const DOCUMENTS = /^(?:application\/(?:pdf|msword|vnd\..+|rtf|epub\+zip)|text\/(?:plain|csv)|audio\/.+)$/;

/** The type of a media item as far as its text tells, before anything was fetched: declared, then MIME type, then extension. */
export function mediaTypeOf(item: MediaHints): MediaType | null {
  return item.type ?? typeOfMime(item.mime_type ?? '') ?? BY_EXTENSION.get(extensionOf(item.url)) ?? null;
}

export function typeOfMime(mimeType: string): MediaType | null {
  const mime = mimeType.toLowerCase();
  if (mime === 'image/gif') return 'gif';
  if (mime === 'image/svg+xml') return null;
  if (mime.startsWith('image/')) return 'image';
  if (mime.startsWith('video/')) return 'video';
  return DOCUMENTS.test(mime) ? 'document' : null;
}

/** After the last dot of the last path segment; query and fragment do not count. */
function extensionOf(url: string): string {
  const segment = (URL.parse(url)?.pathname ?? '').split('/').at(-1)!;
  const name = decode(segment);
  const dot = name.lastIndexOf('.');
  return dot === -1 ? '' : name.slice(dot + 1).toLowerCase();
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
