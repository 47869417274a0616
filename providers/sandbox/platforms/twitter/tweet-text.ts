import { createRequire } from 'node:module';
import { codeOf } from '../../ids.ts';

interface TwitterText {
  parseTweet(text: string): { weightedLength: number; valid: boolean };
  extractUrlsWithIndices(text: string): { url: string; indices: [number, number] }[];
}

const twitterText = createRequire(import.meta.url)('twitter-text') as TwitterText;

export const TEXT_MAX = 280;
export const LONG_TEXT_MAX = 25_000;

export function weightedLength(text: string): number {
  return twitterText.parseTweet(text).weightedLength;
}

export interface UrlEntity {
  start: number;
  end: number;
  url: string;
  expanded_url: string;
  display_url: string;
  media_key?: string;
}

export interface ShownText {
  text: string;
  urls: UrlEntity[];
}

const codePoints = (text: string): number => [...text].length;
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A text as the platform gives it back: `&`, `<`, `>` escaped, every URL a short link, and one more short link for its media. */
export function shownText(tweet: { id: string; text: string; username: string; mediaKeys: readonly string[]; kind: string }): ShownText {
  const urls: UrlEntity[] = [];
  let text = '';
  let from = 0;
  for (const found of twitterText.extractUrlsWithIndices(tweet.text)) {
    text += escaped(tweet.text.slice(from, found.indices[0]));
    const expanded = /^https?:\/\//i.test(found.url) ? found.url : `http://${found.url}`;
    text = withLink(text, urls, { url: `https://t.co/${codeOf(tweet.id + found.url, 10)}`, expanded_url: expanded, display_url: displayed(expanded) });
    from = found.indices[1];
  }
  text += escaped(tweet.text.slice(from));
  if (tweet.mediaKeys.length === 0) return { text, urls };
  const code = codeOf(`${tweet.id} media`, 10);
  if (text !== '') text += ' ';
  const start = codePoints(text);
  text += `https://t.co/${code}`;
  for (const media_key of tweet.mediaKeys) {
    urls.push({
      start, end: codePoints(text), url: `https://t.co/${code}`, expanded_url: `https://twitter.com/${tweet.username}/status/${tweet.id}/${tweet.kind}/1`,
      display_url: `pic.twitter.com/${code}`, media_key,
    });
  }
  return { text, urls };
}

function withLink(text: string, urls: UrlEntity[], link: Omit<UrlEntity, 'start' | 'end'>): string {
  const start = codePoints(text);
  urls.push({ start, end: start + link.url.length, ...link });
  return text + link.url;
}

function displayed(url: string): string {
  const bare = url.replace(/^https?:\/\/(?:www\.)?/i, '');
  return bare.length > 32 ? `${bare.slice(0, 31)}…` : bare;
}
