import type { IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { TrustedProxies } from "./trusted-proxies.ts";

const trusted = new TrustedProxies(["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"]);

function clientOf(remoteAddress: string, forwarded?: string, proxies = trusted): string {
  const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  return proxies.clientAddressOf({ socket: { remoteAddress }, headers } as unknown as IncomingMessage);
}

it.each([
  // The peer is not a proxy, so the header is forged.
  ["203.0.113.1", "198.51.100.1", "203.0.113.1"],
  ["10.0.0.1", "198.51.100.1", "198.51.100.1"],
  // The last untrusted address is the only one that a proxy has seen.
  ["10.0.0.1", "1.2.3.4, 198.51.100.1, 192.0.2.7", "198.51.100.1"],
  ["2001:db8::1", "[2001:db9::5]:443", "2001:db9::5"],
  ["10.0.0.1", "198.51.100.1:5000", "198.51.100.1"],
  ["10.0.0.1", "10.0.0.2, 10.0.0.3", "10.0.0.2"],
  ["10.0.0.1", "198.51.100.1, unknown", "10.0.0.1"],
  ["10.0.0.1", undefined, "10.0.0.1"],
])("of peer %s with X-Forwarded-For %s the client is %s", (peer, forwarded, client) => {
  expect(clientOf(peer, forwarded)).toBe(client);
});

it.each([
  // This is how a dual-stack socket reports IPv4 peers.
  ["::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"],
  ["::FFFF:203.0.113.2", undefined, "203.0.113.2"],
  ["::ffff:11.0.0.1", "198.51.100.1", "11.0.0.1"],
  ["::ffff:203.0.113.1", undefined, "203.0.113.1"],
  ["::ffff:10.0.0.1", "198.51.100.1, ::ffff:10.0.0.2", "198.51.100.1"],
  ["10.0.0.1", "198.51.100.1, ::ffff:a00:2", "198.51.100.1"],
  ["10.0.0.1", "1.2.3.4, ::ffff:198.51.100.1", "198.51.100.1"],
  ["10.0.0.1", "[::ffff:198.51.100.1]:443", "198.51.100.1"],
])("of IPv4-mapped peer or hop %s with X-Forwarded-For %s the client is %s", (peer, forwarded, client) => {
  expect(clientOf(peer, forwarded)).toBe(client);
});

it("trusts IPv4 peers of an IPv4-mapped network", () => {
  const mapped = new TrustedProxies(["::ffff:10.0.0.0/104", "::ffff:192.0.2.7"]);
  const clients = ["10.1.2.3", "::ffff:10.1.2.3", "192.0.2.7", "11.0.0.1", "::ffff:11.0.0.1"].map((peer) =>
    clientOf(peer, "198.51.100.1", mapped),
  );
  expect(clients).toEqual(["198.51.100.1", "198.51.100.1", "198.51.100.1", "11.0.0.1", "11.0.0.1"]);
});
