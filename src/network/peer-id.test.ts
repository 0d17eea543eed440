import { peerIdFromString } from "@libp2p/peer-id";
import { describe, expect, it } from "vitest";
import { parsePeerId } from "./peer-id.ts";

const SECP256K1 = "16Uiu2HAm5hPxT7s3TA2f4b4YjAPzS7yLRSgdj87ysDZ6NAXMiRuY";
const RSA = "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N";

describe("parsePeerId", () => {
  it.each([SECP256K1, RSA])("%s is parsed in base58btc and as a CIDv1 in base32", async (text) => {
    const cid = peerIdFromString(text).toCID().toString();
    expect(cid).toMatch(/^bafz/);
    expect(await parsePeerId(text)).toBe(text);
    expect(await parsePeerId(cid)).toBe(text);
  });

  it.each([
    ["empty text", ""],
    ["a single letter", "Q"],
    ["a single digit", "1"],
    ["characters outside the alphabet", "16Uiu2HAm5hPxT7s3TA2f4b4YjAPzS7yLRSgdj87ysDZ6NAXMiRu0"],
    ["a missing character", SECP256K1.slice(0, -1)],
    ["an extra character", `${RSA}a`],
    ["a node record", "enr:-abc"],
    ["a multiaddress", `/ip4/127.0.0.1/tcp/9000/p2p/${RSA}`],
    ["a CID of something else", "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi"],
    ["a hash that is too short", "bafzbeaybaibq"],
    ["a URL instead of a key", "1isvKqksgYBtEuDqoXxqJZ2UW"],
  ])("is not %s", async (_what, text) => {
    expect(await parsePeerId(text)).toBeUndefined();
  });

  it("rejects megabytes of text without decoding them", async () => {
    expect(await parsePeerId("1".repeat(1_000_000))).toBeUndefined();
    expect(await parsePeerId(`Q${"m".repeat(1_000_000)}`)).toBeUndefined();
  });
});
