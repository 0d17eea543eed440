import fc from "fast-check";
import { expect, it } from "vitest";
import { methods } from "../../../api/method-groups.ts";
import { type ApiClient, type ApiClients, redactKeys } from "./api-clients.ts";

const KEY_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

const clientsWith = (known: string): ApiClients => ({
  isRequired: true,
  find: (key) => (key === known ? ({} as ApiClient) : undefined),
  onChange: () => {},
});

/** Percent-encodes a character, and then the percent sign several times over. */
function encode(character: string, times: number): string {
  return times === 0 ? character : `%${"25".repeat(times - 1)}${character.charCodeAt(0).toString(16)}`;
}

/** Decodes until nothing is left to decode. */
function decodeAll(text: string): string {
  const decoded = text.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decoded === text ? text : decodeAll(decoded);
}

/** What may come before and after a key in a URL. */
const PLACES: readonly (readonly [before: string, after: string])[] = [
  ["/", ""],
  ["/", "/eth/v1/node/version"],
  ["/", "%2Feth/v1/node/version"],
  ["/", "%252Feth/v1/node/version"],
  ["/", "%zz/x"],
  ["/", "%/x"],
  ["/", ":80/x"],
  ["/", "~/x"],
  ["/", ".json"],
  ["//", "\\x"],
  ["/@", "/x"],
  ["/user:", "@host/x"],
  ["/eth%2F", ""],
  ["/%41", ""],
  ["/eth/v1/", ""],
  ["/x?a=", ""],
  ["/x?a=b,", ""],
];

it("redacts a key wherever it is in a URL, however often its characters are encoded", () => {
  const key = fc.string({ unit: fc.constantFrom(...KEY_CHARACTERS), minLength: 16, maxLength: 40 });
  const depths = fc.array(fc.nat(3), { minLength: 40, maxLength: 40 });
  const plain = fc.constant(Array<number>(40).fill(0));
  fc.assert(
    fc.property(key, fc.oneof(plain, depths), fc.constantFrom(...PLACES), (key, depths, [before, after]) => {
      const written = Array.from(key, (character, index) => encode(character, depths[index]!)).join("");
      const logged = redactKeys(before + written + after, clientsWith(key));
      expect(logged).toContain("…");
      expect(decodeAll(logged)).not.toContain(key.slice(0, 8));
    }),
  );
});

it.each(["/%s", "/eth/v1/%s", "/x?a=%s", "/user:%s@host/x"])("redacts what resembles a key in %s", (url) => {
  const former = "some-former-key-0123";
  expect(redactKeys(url.replace("%s", former), clients)).not.toContain(former);
});

const clients = clientsWith("wallet-key-0123456789");

const ROOT = `0x${"0f".repeat(32)}`;
const PUBKEY = `0x${"a1".repeat(48)}`;

it.each([
  `/eth/v1/beacon/states/${ROOT}/finality_checkpoints`,
  "/eth/v1/beacon/states/123456789/validator_balances",
  `/eth/v1/beacon/states/head/validators/${PUBKEY}`,
  `/eth/v1/beacon/states/finalized/validators?id=${PUBKEY},${PUBKEY}&status=active_ongoing`,
  `/eth/v1/beacon/states/finalized/validators?id=${PUBKEY}%2C${PUBKEY}&status=active_ongoing%2Cpending_queued`,
  "/eth/v1/events?topics=head,finalized_checkpoint,light_client_finality_update",
  "/docs/get_v1_beacon_states_finality_checkpoints",
  "/debug_getRawTransactionsOfBlock",
  "/",
])("leaves %s readable", (url) => {
  expect(redactKeys(url, clients)).toBe(url);
});

it("leaves all routes and names of REST operations readable", () => {
  for (const { name, rest } of methods) {
    const urls = rest.map(({ path }) => path.replaceAll(/:\w+|\{\w+\}/g, ROOT));
    for (const url of /^[a-z]+_v\d_/.test(name) ? [...urls, `/${name}`] : urls)
      expect(redactKeys(url, clients)).toBe(url);
  }
});
