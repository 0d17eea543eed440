import { expect, it } from "vitest";
import { isGlobalAddress } from "./address-scope.ts";

it.each(["8.8.8.8", "172.32.0.1", "100.128.0.1", "2a00::1", "::ffff:8.8.8.8"])("%s is global", (ip) => {
  expect(isGlobalAddress(ip)).toBe(true);
});

it.each([
  "0.0.0.0",
  "10.1.2.3",
  "100.64.0.1",
  "127.0.0.1",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:10.0.0.1",
  "fd00::1",
  "fe80::1",
  "ff02::1",
  "example.org",
])("%s is not global", (ip) => {
  expect(isGlobalAddress(ip)).toBe(false);
});
