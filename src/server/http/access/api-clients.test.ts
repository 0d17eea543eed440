import { describe, expect, it } from "vitest";
import { methods } from "../../../api/method-groups.ts";
import { type ApiClient, type ApiClients, redactKeys } from "./api-clients.ts";

const KEY = "wallet-key-0123456789";
const HEX_KEY = "0123456789abcdef0123456789abcdef";
/** Resemble names and roots, so that only the clients tell them apart. */
const LETTERS_KEY = "only_letters_only";
const PREFIXED_KEY = `0x${"ab".repeat(32)}`;
const UNKNOWN_KEY = "some-former-key-0123";

const KNOWN: readonly (string | undefined)[] = [KEY, HEX_KEY, LETTERS_KEY, PREFIXED_KEY];
const clients: ApiClients = {
  isRequired: true,
  find: (key) => (KNOWN.includes(key) ? ({} as ApiClient) : undefined),
  onChange: () => {},
};

const encodeAll = (text: string) => Buffer.from(text).toString("hex").replace(/../g, "%$&");

describe.each([KEY, HEX_KEY, LETTERS_KEY, PREFIXED_KEY, UNKNOWN_KEY])("the key %s", (key) => {
  const encoded = encodeAll(key);
  const half = key.slice(0, 8) + encodeAll(key.slice(8));
  it.each([
    `/${key}`,
    `/${key}%2Feth/v1/node/version`,
    `/${key}%252Feth/v1/node/version`,
    `/${key}%20/eth`,
    `/${key}%00/x`,
    `/${key}%ff/x`,
    `/${key}%/x`,
    `/${key}%zz/x`,
    `/${key}%3Fa`,
    `/${key}%5F/x`,
    `/${key}:80/x`,
    `/${key}+/x`,
    `/${key}~/x`,
    `/${key}.json`,
    `/@${key}/x`,
    `/user:${key}@host/x`,
    `/eth%2F${key}`,
    `/eth%252f${key}`,
    `/%41${key}`,
    `/eth/v1/${key}`,
    `/x?a=${key}`,
    `/x?a=b,${key}`,
    `/${encoded}/x`,
    `/a${encodeAll("/")}${encoded}.x`,
    `/${half}/x`,
    `/${encodeAll(encoded)}/x`,
    `/${encodeAll(encodeAll(encoded))}/x`,
    `/${encoded.replaceAll("%", "%25252525252525252525252525252525252525")}/x`,
    `//${key}\\x`,
  ])("is redacted in %s", (url) => {
    const logged = redactKeys(url, clients);
    expect(logged).toContain("…");
    expect(logged).not.toContain(key.slice(0, 8));
    expect(logged).not.toContain(encoded.slice(0, 24));
  });
});

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
