import { lookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { GuardRule, Reach } from './types.ts';

const USER_URL_MAX_CHARS = 2_048;
const PORTS = new Set(['443', '8443']);
const PRIVATE_SUFFIXES = ['.local', '.internal', '.localhost', '.localdomain', '.lan', '.home.arpa', '.invalid', '.test', '.onion'];

/** `open`: an operator named this host and port, so neither scheme nor addresses are questioned. */
export type Admission = { admitted: true; url: URL; open: boolean } | { admitted: false; rule: GuardRule };

export interface Guard {
  /** Decides from the text alone, without asking DNS. */
  admit(url: string, reach: Reach): Admission;
}

/** `allow` and `blocked` are exact `host:port` pairs (`blocked` also takes URLs). Blocked beats allowed. */
export function createGuard({ allow, blocked }: { allow: readonly string[]; blocked: readonly string[] }): Guard {
  const allowed = new Set(allow.map(pairOf));
  const closed = new Set(blocked.map(pairOf).map(sameMachine));
  const admitPublic = (url: URL, reach: Reach): Admission => {
    const pair = pairOfUrl(url);
    if (closed.has(sameMachine(pair))) return refuse('blocked');
    if (allowed.has(pair)) return { admitted: true, url, open: true };
    const rule = publicRule(url, reach) ?? (reach.kind !== 'platform' && url.href.length > USER_URL_MAX_CHARS ? 'too_long' : null);
    return rule === null ? { admitted: true, url, open: false } : refuse(rule);
  };
  return {
    admit(text, reach) {
      const url = URL.parse(text);
      if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return refuse(url === null ? 'url' : 'scheme');
      if (url.username !== '' || url.password !== '') return refuse('userinfo');
      if (reach.kind !== 'sandbox') return admitPublic(url, reach);
      const sandbox = new URL(reach.url);
      const same = url.protocol === sandbox.protocol && pairOfUrl(url) === pairOfUrl(sandbox);
      return same ? { admitted: true, url, open: true } : refuse('not_the_sandbox');
    },
  };
}

function publicRule(url: URL, reach: Reach): GuardRule | null {
  // Media may lie on plain http; nothing else does.
  const isPlainMedia = reach.kind === 'media' && url.protocol === 'http:';
  if (url.protocol !== 'https:' && !isPlainMedia) return 'scheme';
  if (isPlainMedia ? portOf(url) !== '80' : !PORTS.has(portOf(url))) return 'port';
  const host = bare(url.hostname);
  // An address instead of a name is refused in any spelling, public or not: names are what people mean.
  if (isIP(host) !== 0) return 'address';
  const name = host.replace(/\.$/, '');
  if (!name.includes('.') || PRIVATE_SUFFIXES.some((suffix) => name.endsWith(suffix))) return 'name';
  return null;
}

/** The URL parser has already turned `0x7f.1`, `2130706433` and their kind into plain addresses. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';
}

function refuse(rule: GuardRule): Admission {
  return { admitted: false, rule };
}

function portOf(url: URL): string {
  if (url.port !== '') return url.port;
  return url.protocol === 'https:' ? '443' : '80';
}

function pairOfUrl(url: URL): string {
  return `${bare(url.hostname)}:${portOf(url)}`;
}

function pairOf(entry: string): string {
  if (entry.includes('://')) return pairOfUrl(new URL(entry));
  const cut = entry.lastIndexOf(':');
  return `${bare(new URL(`http://${entry.slice(0, cut)}`).hostname)}:${entry.slice(cut + 1)}`;
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** All spellings of this machine are one, so that a block on `127.0.0.1:4401` also stops `localhost:4401`. */
function sameMachine(pair: string): string {
  const cut = pair.lastIndexOf(':');
  const host = pair.slice(0, cut).replace(/\.$/, '');
  const local = host === 'localhost' || host.endsWith('.localhost') || (ipaddr.isValid(host) && ['loopback', 'unspecified'].includes(ipaddr.process(host).range()));
  return `${local ? 'this-machine' : host}${pair.slice(cut)}`;
}

/** Thrown into the connection when a name resolves to anything but public addresses. */
export class AddressRefused extends Error {
  readonly code = 'ERR_IP_BLOCKED';

  constructor() {
    super('the name resolves to an address that is not public');
    this.name = 'AddressRefused';
  }
}

/** One address that is not public is enough to refuse the name: the next connection might take it. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error) return callback(error, '');
    const first = addresses[0];
    if (first === undefined || !addresses.every((one) => isPublicAddress(one.address))) return callback(new AddressRefused(), '');
    return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
  });
};

/** The socket's own second opinion. The lookup is never called for a literal; this is. */
export function specialAddresses(): BlockList {
  const list = new BlockList();
  for (const [address, bits] of SPECIAL_IPV4) list.addSubnet(address, bits, 'ipv4');
  for (const [address, bits] of SPECIAL_IPV6) list.addSubnet(address, bits, 'ipv6');
  return list;
}

const SPECIAL_IPV4: readonly [string, number][] = [
  ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12], ['192.0.0.0', 24], ['192.0.2.0', 24],
  ['192.88.99.0', 24], ['192.168.0.0', 16], ['198.18.0.0', 15], ['198.51.100.0', 24], ['203.0.113.0', 24], ['224.0.0.0', 4], ['240.0.0.0', 4],
];
const SPECIAL_IPV6: readonly [string, number][] = [
  ['::', 128], ['::1', 128], ['64:ff9b::', 96], ['64:ff9b:1::', 48], ['100::', 64], ['2001::', 23], ['2001:db8::', 32], ['2002::', 16],
  ['3fff::', 20], ['5f00::', 16], ['fc00::', 7], ['fe80::', 10], ['fec0::', 10], ['ff00::', 8],
];
