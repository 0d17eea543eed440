import { expect, it } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { ProposerPreparations } from "./proposer-preparations.ts";

const ZERO_ADDRESS = new Uint8Array(20);
const address = (byte: number) => new Uint8Array(20).fill(byte);

it("warns once per proposer that falls back to the zero address", () => {
  const logger = createRecordingLogger();
  const preparations = new ProposerPreparations(undefined, { settings: { suggestedFeeRecipient: undefined }, logger });
  const recipient = (validator: number, warns = true) => preparations.feeRecipientOrDefault(validator, 0, { warns });
  expect(recipient(1, false)).toEqual(ZERO_ADDRESS);
  expect(logger.records).toEqual([]);
  for (const validator of [1, 1, 2]) expect(recipient(validator)).toEqual(ZERO_ADDRESS);
  expect(logger.records).toMatchObject([
    { level: "warn", fields: { validator: 1 } },
    { level: "warn", fields: { validator: 2 } },
  ]);
});

it("prefers the proposer's fee recipient to the suggested one", () => {
  const logger = createRecordingLogger();
  const preparations = new ProposerPreparations(undefined, { settings: { suggestedFeeRecipient: address(1) }, logger });
  preparations.prepare(7, address(2), 0);
  expect(preparations.feeRecipientOrDefault(7, 0, { warns: true })).toEqual(address(2));
  expect(preparations.feeRecipientOrDefault(8, 0, { warns: true })).toEqual(address(1));
  expect(logger.records).toEqual([]);
});
