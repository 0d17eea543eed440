import { createBeaconConfig } from "@lodestar/config";
import type { SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import { DEV_FORKS } from "../../dev/forks.ts";
import { deserializeSignedBlock, parentRootOf, serializeSignedBlock, slotOf } from "./block-encoding.ts";

it.each(DEV_FORKS)("reads slot and parent root from the bytes of a %s block", (fork) => {
  const chainConfig = devChainConfig({
    forks: fork === "phase0" ? [] : [{ fork, epoch: 0 }],
    slotSeconds: 2,
    genesisTime: 0,
  });
  const config = createBeaconConfig(chainConfig, new Uint8Array(32));
  const block = config.getForkTypes(0).SignedBeaconBlock.defaultValue() as SignedBeaconBlock;
  block.message.slot = 0x0102030405;
  block.message.proposerIndex = 77;
  block.message.parentRoot = Uint8Array.from({ length: 32 }, (_, i) => i + 1);
  block.message.stateRoot = Uint8Array.from({ length: 32 }, (_, i) => 100 + i);
  block.message.body.graffiti = new Uint8Array(32).fill(9);
  const bytes = serializeSignedBlock(config, block);
  // Like a value from a database: a slice of a larger buffer.
  const inside = new Uint8Array([9, 9, 9, ...bytes, 9]).subarray(3, 3 + bytes.length);

  expect(slotOf(inside)).toBe(0x0102030405);
  expect(parentRootOf(inside)).toBe(toRootHex(block.message.parentRoot));
  expect(serializeSignedBlock(config, deserializeSignedBlock(config, inside))).toEqual(bytes);
  expect(deserializeSignedBlock(config, inside).message.body.graffiti).toEqual(block.message.body.graffiti);
});
