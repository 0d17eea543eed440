import type { BeaconConfig } from "@lodestar/config";
import {
  type BeaconStateAllForks,
  type CachedBeaconStateAllForks,
  getEffectiveBalanceIncrementsZeroInactive,
} from "@lodestar/state-transition";
import type { RootHex } from "@lodestar/types";
import { ClosingStack } from "../async/closing-stack.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import { DatabaseCorruptError } from "../db/errors.ts";
import { PubkeyFile } from "../db/pubkey-file.ts";
import { DepositChain } from "../execution/eth1/deposit-chain.ts";
import type { Logger } from "../log/logger.ts";
import { Progress } from "../log/progress.ts";
import { anchorBlock } from "./anchor/anchor.ts";
import { readStoredBlock } from "./blocks/stored-block.ts";
import { ForkChoice } from "./fork-choice/fork-choice.ts";
import { PayloadVerification } from "./fork-choice/payloads/payload-verification.ts";
import { checkFinalizedHistory } from "./history/check-history.ts";
import { type HistoryEnd, readHistoryEnd } from "./history/history.ts";
import { PayloadStore } from "./payloads/payload-store.ts";
import { Pubkeys } from "./pubkeys/pubkeys.ts";
import { SnapshotStore } from "./states/snapshot-store.ts";

export interface OpeningOptions {
  config: BeaconConfig;
  db: BeaconDb;
  logger: Logger;
  /** Path of the public key cache; omitted to disable it. */
  pubkeyFile?: string;
  /** Minimum number of keys for the file cache and for decompression in worker threads. */
  manyKeys?: number;
  /** State of the finalized block, if already loaded. The chain takes ownership. */
  anchorState?: BeaconStateAllForks;
  snapshotIntervalEpochs?: number;
  /** Aborts opening. */
  signal?: AbortSignal;
}

/** Components restored from the database. */
export interface OpenedParts {
  pubkeyCache: Pubkeys;
  forkChoice: ForkChoice;
  snapshots: SnapshotStore;
  payloads: PayloadVerification;
  anchorState: CachedBeaconStateAllForks;
  deposits: DepositChain;
  historyEnd: HistoryEnd | null;
}

export async function openParts(options: OpeningOptions): Promise<OpenedParts> {
  const { db, config, pubkeyFile, manyKeys, signal } = options;
  const logger = options.logger.topic("chain");
  const file = pubkeyFile === undefined ? undefined : new PubkeyFile(pubkeyFile);
  await using opening = new ClosingStack();
  const pubkeyCache = new Pubkeys({ logger, file, manyKeys, signal });
  opening.defer(() => pubkeyCache.close());
  const finalized = await db.meta.getFinalized();
  if (!finalized) throw new Error("The database contains no chain. Initialise it with an anchor state first.");
  await checkFinalizedHistory({ config, db, finalizedRoot: finalized.root });
  const snapshots = new SnapshotStore({ config, db, pubkeyCache, intervalEpochs: options.snapshotIntervalEpochs });
  await snapshots.open();
  const finalizedState = options.anchorState ?? (await readFinalizedState(snapshots, finalized.root, { db, logger }));
  const anchorState = await snapshots.withCaches(finalizedState);
  await snapshots.resumeFrom(finalized.root, anchorState);
  const unverifiedFrom = await db.meta.getUnverifiedFrom();
  const forkChoice = ForkChoice.fromAnchor({
    config,
    currentSlot: anchorState.slot,
    anchor: anchorBlock(anchorState, finalized, {
      isVerified: unverifiedFrom === null,
      payloadNumber: await storedPayloadNumber(finalized.root, { config, db }),
    }),
    checkpoint: finalized,
    balances: getEffectiveBalanceIncrementsZeroInactive(anchorState),
    totalActiveBalance: anchorState.epochCtx.totalActiveBalanceIncrements,
    effectiveBalances: anchorState.epochCtx.effectiveBalanceIncrements,
  });
  const orphaned = await Array.fromAsync(db.orphanedBlocks.roots());
  const payloads = new PayloadVerification({ config, forkChoice, unverifiedFrom, orphaned });
  const deposits = await DepositChain.open(db.eth1);
  const historyEnd = await readHistoryEnd(db);
  opening.move();
  return { pubkeyCache, forkChoice, snapshots, payloads, anchorState, deposits, historyEnd };
}

/** Returns the number of the finalized block's payload; null if it is not stored. */
async function storedPayloadNumber(
  root: RootHex,
  { config, db }: Pick<OpeningOptions, "config" | "db">,
): Promise<number | null> {
  const bytes = await db.blocks.get(root);
  const signed = bytes && readStoredBlock({ config, db }, root, bytes);
  const newPayload = signed && (await new PayloadStore({ config, db }).payloadOf(signed, root));
  return newPayload?.payload.blockNumber ?? null;
}

async function readFinalizedState(
  snapshots: SnapshotStore,
  root: RootHex,
  { db, logger }: Pick<OpeningOptions, "db" | "logger">,
): Promise<BeaconStateAllForks> {
  const progress = new Progress({ message: "Reading the finalized state", logger });
  const state = await snapshots.read(root, { onRead: (done, total) => progress.report(done, total) });
  if (!state) throw new DatabaseCorruptError(db.path, `the state of finalized block ${root} is missing`);
  progress.finish();
  return state;
}
