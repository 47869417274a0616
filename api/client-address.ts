import ipaddr from 'ipaddr.js';
import type { IncomingMessage } from 'node:http';

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Finds whom a request comes from. Forwarding headers are believed only from peers that the configuration trusts. */
export class ClientAddress {
  readonly #trusted: Range[];

  constructor(trustedProxies: readonly string[]) {
    this.#trusted = trustedProxies.map((text) => ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${ipaddr.parse(text).kind() === 'ipv6' ? 128 : 32}`));
  }

  /** The IPv4 address or the IPv6 /64, as address limits count them. */
  bucketOf(req: IncomingMessage): string {
    const address = this.#addressOf(req);
    if (address === null) return 'unknown';
    return address.kind() === 'ipv6' ? `${(address as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16)).join(':')}::/64` : address.toString();
  }

  #addressOf(req: IncomingMessage): ipaddr.IPv4 | ipaddr.IPv6 | null {
    const peer = parse(req.socket.remoteAddress ?? '');
    const hops = String(req.headers['x-forwarded-for'] ?? '').split(',').map((hop) => hop.trim()).filter((hop) => hop !== '').toReversed();
    let address = peer;
    for (const hop of hops) {
      if (address === null || !this.#isTrusted(address)) break;
      address = parse(hop);
    }
    return address ?? peer;
  }

  #isTrusted(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
    return this.#trusted.some(([range, bits]) => range.kind() === address.kind() && address.match([range, bits] as never));
  }
}

function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  return ipaddr.isValid(text) ? ipaddr.process(text) : null;
}
