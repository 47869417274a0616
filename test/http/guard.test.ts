import { expect, test } from '@jest/globals';
import { createConnectors } from '../../infra/http/connector.ts';
import { createGuard, isPublicAddress, publicLookup, specialAddresses } from '../../infra/http/guard.ts';
import { createOutbound } from '../../infra/http/outbound.ts';
import { GuardRefusal, type Reach } from '../../infra/http/types.ts';
import { tcpServer } from './servers.ts';

const SANDBOX = 'http://127.0.0.1:4401';
const guard = createGuard({ allow: ['localhost:9000', '127.0.0.1:4401', '[::1]:9001', 'instance.example:8443'], blocked: [SANDBOX] });
const ruleOf = (url: string, reach: Reach = { kind: 'user' }) => {
  const admission = guard.admit(url, reach);
  return admission.admitted ? null : admission.rule;
};

const LOOPBACKS = [
  'https://127.0.0.1/', 'https://[::1]/', 'https://[::ffff:127.0.0.1]/', 'https://2130706433/', 'https://0x7f.1/', 'https://127.1/', 'https://0.0.0.0/',
  'https://0177.0.0.1/', 'https://127.0.0.1./', 'https://[::]/', 'https://①②⑦.0.0.1/',
];
test.each(LOOPBACKS)('%s is this machine, however it is spelt', (url) => {
  expect(ruleOf(url)).toBe('address');
});

test.each([
  ['https://10.1.2.3/', 'address'], ['https://169.254.169.254/', 'address'], ['https://100.64.0.1/', 'address'], ['https://[64:ff9b::7f00:1]/', 'address'],
  ['https://[2002:7f00:1::]/', 'address'], ['https://[fe80::1]/', 'address'], ['https://[fd00::1]/', 'address'], ['https://[3fff::1]/', 'address'],
  ['https://192.0.2.1/', 'address'], ['https://224.0.0.1/', 'address'], ['https://255.255.255.255/', 'address'],
  ['https://localhost/', 'name'], ['https://LOCALHOST./', 'name'], ['https://db/', 'name'], ['https://printer.local/', 'name'], ['https://api.internal/', 'name'], ['https://a.localhost/', 'name'],
  ['http://example.com/', 'scheme'], ['ftp://example.com/', 'scheme'], ['file:///etc/passwd', 'scheme'], ['https://example.com:8443/', null], ['https://shop.test/', 'name'], ['https://nas.lan/', 'name'], ['https://example.com:22/', 'port'],
  ['https://user@example.com/', 'userinfo'], ['https://user:word@example.com/', 'userinfo'], ['not a url', 'url'], [`https://example.com/${'a'.repeat(2_048)}`, 'too_long'],
  ['https://example.com/', null], ['https://example.com:80/', 'port'], ['https://8.8.8.8/', 'address'], ['https://[2606:4700::1111]/', 'address'],
])('%s: %s', (url, rule) => {
  expect(ruleOf(url)).toBe(rule);
});

test('a media file may lie on plain http, on its usual port alone', () => {
  const media = (url: string) => ruleOf(url, { kind: 'media' });
  expect([media('http://example.com/a.jpg'), media('http://example.com:8080/a.jpg'), media('https://example.com/a.jpg'), media('http://127.0.0.1/a.jpg')]).toEqual([null, 'port', null, 'address']);
});

test('an operator opens exact pairs of host and port, and nothing beside them', () => {
  expect(['http://localhost:9000/hook', 'https://localhost:9000/', 'http://[::1]:9001/', 'https://instance.example:8443/'].map((url) => ruleOf(url))).toEqual([null, null, null, null]);
  expect(['http://localhost:9001/', 'http://127.0.0.1:9000/', 'http://instance.example/'].map((url) => ruleOf(url))).toEqual(['scheme', 'scheme', 'scheme']);
});

test('nobody but sandbox accounts reaches the sandbox, not even when an operator allows it', () => {
  for (const url of ['http://127.0.0.1:4401/', 'http://localhost:4401/', 'http://[::1]:4401/', 'http://0.0.0.0:4401/']) expect(ruleOf(url, { kind: 'platform' })).toBe('blocked');
});

test('sandbox accounts reach the sandbox and nothing else', () => {
  const reach: Reach = { kind: 'sandbox', url: SANDBOX };
  expect(ruleOf('http://127.0.0.1:4401/twitter/api/2/tweets', reach)).toBeNull();
  for (const url of ['https://api.x.com/2/tweets', 'http://127.0.0.1:4402/', 'https://127.0.0.1:4401/', 'http://localhost:9000/']) expect(ruleOf(url, reach)).toBe('not_the_sandbox');
});

test('both opinions on addresses agree', () => {
  const list = specialAddresses();
  const special = ['127.0.0.1', '0.0.0.0', '10.0.0.1', '192.168.1.1', '172.31.0.1', '169.254.1.1', '100.127.0.1', '198.18.0.1', '203.0.113.9', '240.0.0.1'];
  const special6 = ['::1', '::', '64:ff9b::1', '2001:db8::1', '2002::1', '2001::1', 'fc00::1', 'fe80::1', 'ff02::1', '5f00::1', '::ffff:127.0.0.1'];
  for (const address of special) expect([address, isPublicAddress(address), list.check(address, 'ipv4')]).toEqual([address, false, true]);
  for (const address of special6) expect([address, isPublicAddress(address), list.check(address, 'ipv6')]).toEqual([address, false, true]);
  for (const address of ['8.8.8.8', '172.32.0.1', '100.128.0.1']) expect([isPublicAddress(address), list.check(address, 'ipv4')]).toEqual([true, false]);
  for (const address of ['2606:4700::1111', '2a00:1450::1']) expect([isPublicAddress(address), list.check(address, 'ipv6')]).toEqual([true, false]);
});

test('a name that resolves to this machine is refused when it is looked up', async () => {
  for (const all of [true, false]) {
    const error = await new Promise((resolve) => publicLookup('localhost', { all }, (error) => resolve(error)));
    expect(error).toMatchObject({ code: 'ERR_IP_BLOCKED' });
  }
});

test('the socket itself refuses a literal that got past everything else', async () => {
  const server = await tcpServer(() => undefined);
  const options = { hostname: '127.0.0.1', host: server.pair, protocol: 'http:', port: server.pair.split(':')[1] ?? '' };
  const error = await new Promise((resolve) => createConnectors(1_000).guarded(options, (...[error]) => resolve(error)));
  expect([error, server.connections()]).toMatchObject([{ transport: 'connect', refused: true }, 0]);
  await server.close();
});

test('a refusal is final, was not sent, and says no address', async () => {
  const out = createOutbound({ allow: [], blocked: [SANDBOX], connectTimeoutMs: 1_000 });
  const call = out.call({ method: 'POST', url: 'https://127.0.0.1/?token=secret' }, { deadline: new Date(Date.now() + 1_000), reach: { kind: 'user' } });
  const error = await call.catch((error: unknown) => error as GuardRefusal);
  expect(error).toBeInstanceOf(GuardRefusal);
  expect(error).toMatchObject({ error: 'connect', sent: false, rule: 'address', message: 'the outbound guard refused the address: address' });
  await out.close();
});

test('a redirected download passes the guard at every hop', async () => {
  const inner = await tcpServer(() => undefined);
  const outer = await tcpServer((socket) => socket.once('data', () => socket.end(`HTTP/1.1 302 Found\r\nlocation: ${inner.url}/secret\r\ncontent-length: 0\r\n\r\n`)));
  const out = createOutbound({ allow: [outer.pair], blocked: [], connectTimeoutMs: 1_000 });
  const download = out.download(`${outer.url}/a.png`, { reach: { kind: 'user' }, maxBytes: 10, deadline: new Date(Date.now() + 1_000), sink: () => undefined });
  await expect(download).rejects.toBeInstanceOf(GuardRefusal);
  expect(inner.connections()).toBe(0);
  await Promise.all([out.close(), outer.close(), inner.close()]);
});
