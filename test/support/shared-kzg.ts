import type { Kzg } from "../../src/data/kzg.ts";
import { KzgThread } from "../../src/data/kzg-thread.ts";
import { createRecordingLogger } from "../../src/log/recording-logger.test-support.ts";
import { kzgAt } from "./served-kzg.ts";

/** Names the place where all tests of a run have it computed. Without it, as outside of tests, they do so in their own process. */
export const SHARED_KZG = "FANAL_TEST_KZG";

const { [SHARED_KZG]: url } = process.env;
const kzg = url === undefined ? new KzgThread(createRecordingLogger()) : kzgAt(url);

/** One for all tests, because the trusted setup takes seconds to be read. It stays open, whoever closes it. */
export const sharedKzg: Kzg = {
  commitmentOf: (blob) => kzg.commitmentOf(blob),
  blobProofOf: (blob, commitment) => kzg.blobProofOf(blob, commitment),
  verifyBlobs: (batch) => kzg.verifyBlobs(batch),
  cellsOf: (blob) => kzg.cellsOf(blob),
  cellsAndProofsOf: (blob) => kzg.cellsAndProofsOf(blob),
  verifyCells: (batch) => kzg.verifyCells(batch),
  recover: (cellIndices, cells) => kzg.recover(cellIndices, cells),
  prepare: () => kzg.prepare(),
  async close() {},
};
