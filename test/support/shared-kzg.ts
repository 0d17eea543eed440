import type { Kzg } from "../../src/data/kzg.ts";
import { KzgThread } from "../../src/data/kzg-thread.ts";
import { createRecordingLogger } from "../../src/log/recording-logger.test-support.ts";

const thread = new KzgThread(createRecordingLogger());

/** One for all tests of the process, because the trusted setup takes seconds to be read. It stays open, whoever closes it. */
export const sharedKzg: Kzg = {
  commitmentOf: (blob) => thread.commitmentOf(blob),
  blobProofOf: (blob, commitment) => thread.blobProofOf(blob, commitment),
  verifyBlobs: (batch) => thread.verifyBlobs(batch),
  cellsOf: (blob) => thread.cellsOf(blob),
  cellsAndProofsOf: (blob) => thread.cellsAndProofsOf(blob),
  verifyCells: (batch) => thread.verifyCells(batch),
  recover: (cellIndices, cells) => thread.recover(cellIndices, cells),
  prepare: () => thread.prepare(),
  async close() {},
};
