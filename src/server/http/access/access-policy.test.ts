import type { IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { createRecordingLogger, type LogRecord } from "../../../../test/support/log/recording-logger.ts";
import { ACCESS_CLASSES } from "../../access-class.ts";
import { type AccessOptions, AccessPolicy } from "./access-policy.ts";

function listening(address: string, options: AccessOptions = {}) {
  const policy = new AccessPolicy("rpc", options);
  const log: LogRecord[] = [];
  policy.setListeningAddress({ name: "Node.Lan", address, url: "http://node.lan:1" }, createRecordingLogger(log));
  const served = ACCESS_CLASSES.filter((access) => policy.denialReason(access, () => true) === undefined);
  return { policy, served, warnings: log.filter(({ level }) => level === "warn").length };
}

const requestFrom = (remoteAddress: string, headers: Record<string, string> = {}) =>
  ({ socket: { remoteAddress }, headers, rawHeaders: [], url: "/", method: "POST" }) as unknown as IncomingMessage;

it("serves all classes on loopback, and only configured or default ones elsewhere", () => {
  expect(listening("127.0.0.1").served).toEqual(ACCESS_CLASSES);
  expect(listening("::1").served).toEqual(ACCESS_CLASSES);
  for (const address of ["0.0.0.0", "::", "192.0.2.1"]) expect(listening(address).served).toEqual(["read", "submit"]);
  expect(listening("0.0.0.0", { classes: ["debug"] }).served).toEqual(["debug"]);
  expect(listening("127.0.0.1", { classes: ["read"] }).served).toEqual(["read"]);
});

it("warns if other machines can call without a token", () => {
  expect(listening("0.0.0.0").warnings).toBe(1);
  expect(listening("0.0.0.0", { token: "a token" }).warnings).toBe(0);
  expect(listening("127.0.0.1").warnings).toBe(0);
});

it("accepts the name that the server listens on", () => {
  const { policy } = listening("192.0.2.1");
  expect(() => policy.authorize(requestFrom("192.0.2.2", { host: "node.lan:9190" }))).not.toThrow();
  expect(() => policy.authorize(requestFrom("192.0.2.2", { host: "lan:9190" }))).toThrow("--rpc-vhosts");
});

it("trusts its own pages on loopback", () => {
  const own = { host: "127.0.0.1:9190", origin: "http://127.0.0.1:9190" };
  const policy = new AccessPolicy("rpc", {}, { hasPages: true });
  expect(policy.isPrivileged(requestFrom("127.0.0.1", own))).toBe(true);
  expect(policy.isPrivileged(requestFrom("127.0.0.1", { ...own, origin: "http://127.0.0.1:8080" }))).toBe(false);
  expect(policy.isPrivileged(requestFrom("192.0.2.1", own))).toBe(false);
  expect(policy.isPrivileged(requestFrom("127.0.0.1", { ...own, "x-forwarded-for": "192.0.2.1" }))).toBe(false);
  expect(new AccessPolicy("rpc").isPrivileged(requestFrom("127.0.0.1", own))).toBe(false);
});

it("allows pages of this machine and extensions if asked to, as unprivileged callers", () => {
  const { policy } = listening("127.0.0.1", { allowsLocalPages: true });
  const from = (origin: string) => requestFrom("127.0.0.1", { host: "127.0.0.1:8545", origin });
  for (const origin of [
    "http://localhost:3000",
    "https://[::1]:5173",
    "chrome-extension://abc",
    "moz-extension://a-b",
  ]) {
    expect(() => policy.authorize(from(origin)), origin).not.toThrow();
    expect(policy.isPrivileged(from(origin)), origin).toBe(false);
    const named = listening("127.0.0.1", { allowsLocalPages: true, allowedOrigins: [origin] });
    expect(named.policy.isPrivileged(from(origin)), origin).toBe(true);
    expect(() => listening("127.0.0.1").policy.authorize(from(origin)), origin).toThrow("--rpc-allow-origin");
  }
  for (const origin of ["https://example.org", "null", "http://localhost.example.org", "ftp://localhost"]) {
    expect(() => policy.authorize(from(origin)), origin).toThrow("--rpc-allow-origin");
  }
});

it("trusts loopback addresses only", () => {
  const { policy } = listening("0.0.0.0");
  for (const address of ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"]) {
    expect(policy.isPrivileged(requestFrom(address)), address).toBe(true);
  }
  for (const address of ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", ""]) {
    expect(policy.isPrivileged(requestFrom(address)), address).toBe(false);
  }
});
