import { defaultCrypto, ENR, SignableENR, setV4Crypto } from "@chainsafe/enr";
import { expect, it, onTestFinished, vi } from "vitest";
import { cacheEnrSignatures } from "./enr-signature-cache.ts";

it("a valid ENR is verified once, a forged one is rejected every time", () => {
  const key = new Uint8Array(32).fill(7);
  const record = SignableENR.createV4(key, { eth2: Uint8Array.of(1, 2, 3) });
  const text = record.encodeTxt();
  const { nodeId } = ENR.decodeTxt(text);
  // The last base64url character may contain unused bits.
  const at = text.length - 2;
  const forged = `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;

  const verify = vi.fn(defaultCrypto.verify);
  onTestFinished(() => setV4Crypto(defaultCrypto));
  cacheEnrSignatures(verify);
  for (const _ of [1, 2, 3]) expect(ENR.decodeTxt(text).nodeId).toBe(nodeId);
  expect(verify).toHaveBeenCalledTimes(1);
  for (const _ of [1, 2]) expect(() => ENR.decodeTxt(forged)).toThrow("Unable to verify enr signature");
  expect(verify).toHaveBeenCalledTimes(3);
});
