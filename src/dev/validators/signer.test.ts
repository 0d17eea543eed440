import { Signature, verify } from "@chainsafe/blst";
import { createBeaconConfig } from "@lodestar/config";
import { DOMAIN_RANDAO, SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeDomain, computeSigningRoot } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { devChainConfig } from "../chain-config.ts";
import { InteropKeys } from "../interop-keys.ts";
import { ValidatorSigner } from "./signer.ts";

const chainConfig = devChainConfig({ forks: [{ fork: "fulu", epoch: 3 }], slotSeconds: 6, genesisTime: 0 });
const genesisValidatorsRoot = new Uint8Array(32).fill(7);
const keys = new InteropKeys(2);
const newSigner = () => new ValidatorSigner(createBeaconConfig(chainConfig, genesisValidatorsRoot), keys);

describe("ValidatorSigner", () => {
  it.each([
    [2, chainConfig.ELECTRA_FORK_VERSION],
    [3, chainConfig.FULU_FORK_VERSION],
  ])("signs the RANDAO reveal of epoch %i with the fork version of the epoch", (epoch, version) => {
    const domain = computeDomain(DOMAIN_RANDAO, version, genesisValidatorsRoot);
    const signature = Signature.fromBytes(newSigner().randaoReveal(1, epoch * SLOTS_PER_EPOCH));
    expect(verify(computeSigningRoot(ssz.Epoch, epoch, domain), keys.secretKey(1)!.toPublicKey(), signature)).toBe(
      true,
    );
  });

  it("caches the RANDAO reveal of an epoch until it is pruned", () => {
    const signer = newSigner();
    const reveal = signer.randaoReveal(1, 0);
    expect(signer.randaoReveal(1, 1)).toBe(reveal);
    expect(signer.randaoReveal(0, 1)).not.toEqual(reveal);
    signer.pruneBefore(1);
    expect(signer.randaoReveal(1, 1)).not.toBe(reveal);
    expect(signer.randaoReveal(1, 1)).toEqual(reveal);
  });

  it("signs for its own validators only", () => {
    const signer = newSigner();
    expect(signer.owns(1)).toBe(true);
    expect(signer.owns(2)).toBe(false);
    expect(() => signer.sign(2, new Uint8Array(32))).toThrow(/Cannot sign for validator 2/);
  });
});
