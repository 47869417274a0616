import { describe, expect, test } from '@jest/globals';
import { mediaTypeOf } from '../../../infra/contract/media-type.ts';

describe('the type of a media item, before anything is fetched', () => {
  test.each([
    ['https://a.example/x.JPG', 'image'], ['https://a.example/x.gif?y=.mp4#z', 'gif'], ['https://a.example/x.tar.mp4', 'video'], ['https://a.example/x%2Emov', 'video'],
    ['https://a.example/x.mp3', 'document'], ['https://a.example/x.pdf', 'document'], ['https://a.example/x.svg', null], ['https://a.example/x.html', null],
    ['https://a.example/x', null], ['https://a.example/', null], ['https://a.example/x.', null], ['https://a.example/v.mp4/x', null], ['https://a.example/%E0%A4%A.png', 'image'],
  ])('%s by extension: %s', (url, type) => expect(mediaTypeOf({ url })).toBe(type));

  test('declared beats MIME type beats extension', () => {
    expect(mediaTypeOf({ url: 'https://a.example/x.png', mime_type: 'video/mp4', type: 'gif' })).toBe('gif');
    expect(mediaTypeOf({ url: 'https://a.example/x.png', mime_type: 'video/mp4' })).toBe('video');
    expect(mediaTypeOf({ url: 'https://a.example/x.png', mime_type: 'application/x-unknown' })).toBe('image');
  });

  test.each([['image/png', 'image'], ['image/gif', 'gif'], ['image/svg+xml', null], ['video/quicktime', 'video'], ['audio/mpeg', 'document'], ['application/vnd.ms-excel', 'document'], ['text/html', null], ['TEXT/CSV', 'document']])('%s: %s', (mime_type, type) => {
    expect(mediaTypeOf({ url: 'https://a.example/x', mime_type })).toBe(type);
  });
});
