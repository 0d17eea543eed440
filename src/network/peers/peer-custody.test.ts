import { generateKeyPair, privateKeyFromRaw } from "@libp2p/crypto/keys";
import { peerIdFromPrivateKey } from "@libp2p/peer-id";
import { createBeaconConfig } from "@lodestar/config";
import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { Custody } from "../../chain/data/custody.ts";
import { devChainConfig } from "../../dev/chain-config.ts";
import { LocalNode } from "../local-node.ts";
import { PeerCustody } from "./peer-custody.ts";

const config = createBeaconConfig(devChainConfig({ forks: [], slotSeconds: 6, genesisTime: 0 }), new Uint8Array(32));
const key = new Uint8Array(32).fill(7);
const id = peerIdFromPrivateKey(privateKeyFromRaw(key)).toString();
const metadata = (custodyGroupCount: number) => ({ ...ssz.fulu.Metadata.defaultValue(), custodyGroupCount });

it("the columns of a peer match its own custody for the advertised group count", async () => {
  const nodeId = await new LocalNode({ key, config, clock: { currentSlot: 0 } }).nodeId();
  const columnsWith = (groupCount: number) => new Custody(config, { nodeId, groupCount }).columns;
  const custody = new PeerCustody(config);
  expect(custody.columnsOf({ id, metadata: null, record: {} })).toEqual(columnsWith(config.CUSTODY_REQUIREMENT));
  expect(custody.columnsOf({ id, metadata: null, record: { custodyGroupCount: 6 } })).toEqual(columnsWith(6));
  // Metadata from before fulu has no count.
  expect(custody.columnsOf({ id, metadata: metadata(0), record: { custodyGroupCount: 6 } })).toEqual(columnsWith(6));
  expect(custody.columnsOf({ id, metadata: metadata(9), record: { custodyGroupCount: 6 } })).toEqual(columnsWith(9));
  expect(custody.columnsOf({ id, metadata: metadata(1_000_000), record: {} })).toHaveLength(128);
  expect(custody.subnetsOf({ id, metadata: metadata(9), record: {} })).toEqual(columnsWith(9));
});

it("a peer without a secp256k1 key has no known columns", async () => {
  const other = peerIdFromPrivateKey(await generateKeyPair("Ed25519")).toString();
  expect(new PeerCustody(config).columnsOf({ id: other, metadata: metadata(128), record: {} })).toEqual([]);
});
