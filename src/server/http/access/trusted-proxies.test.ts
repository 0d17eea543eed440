import type { IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { TrustedProxies } from "./trusted-proxies.ts";

const proxies = new TrustedProxies(["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"]);

function clientOf(remoteAddress: string, forwarded?: string): string {
  const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  return proxies.clientAddressOf({ socket: { remoteAddress }, headers } as unknown as IncomingMessage);
}

it.each([
  // The peer is no proxy, so the header is forged.
  ["203.0.113.1", "198.51.100.1", "203.0.113.1"],
  ["10.0.0.1", "198.51.100.1", "198.51.100.1"],
  ["::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"],
  // Only the last untrusted address was seen by a proxy.
  ["10.0.0.1", "1.2.3.4, 198.51.100.1, 192.0.2.7", "198.51.100.1"],
  ["2001:db8::1", "[2001:db9::5]:443", "2001:db9::5"],
  ["10.0.0.1", "198.51.100.1:5000", "198.51.100.1"],
  ["10.0.0.1", "10.0.0.2, 10.0.0.3", "10.0.0.2"],
  ["10.0.0.1", "198.51.100.1, unknown", "10.0.0.1"],
  ["10.0.0.1", undefined, "10.0.0.1"],
])("of peer %s with X-Forwarded-For %s the client is %s", (peer, forwarded, client) => {
  expect(clientOf(peer, forwarded)).toBe(client);
});
