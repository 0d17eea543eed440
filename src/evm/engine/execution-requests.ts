import {
  type ForkPostBellatrix,
  isForkPostGloas,
  MAX_BUILDER_DEPOSIT_REQUESTS_PER_PAYLOAD,
  MAX_BUILDER_EXIT_REQUESTS_PER_PAYLOAD,
  MAX_CONSOLIDATION_REQUESTS_PER_PAYLOAD,
  MAX_DEPOSIT_REQUESTS_PER_PAYLOAD,
  MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD,
} from "@lodestar/params";
import type { ExecutionRequests, electra, gloas } from "@lodestar/types";

/** Encodes and decodes one type of request, whose SSZ encoding has a fixed size. */
export interface RequestCodec<T> {
  /** EIP-7685 request type. */
  type: number;
  name: string;
  size: number;
  /** Maximum number of requests of this type in a beacon block. */
  limit: number;
  write(request: T, writer: FieldWriter): void;
  read(reader: FieldReader): T;
}

class FieldWriter {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
    this.#view = new DataView(this.bytes.buffer);
  }

  put(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  putUint64(value: bigint): void {
    this.#view.setBigUint64(this.#at, value, true);
    this.#at += 8;
  }
}

class FieldReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  take(size: number): Uint8Array {
    this.#at += size;
    return this.#bytes.slice(this.#at - size, this.#at);
  }

  takeUint64(): bigint {
    this.#at += 8;
    return this.#view.getBigUint64(this.#at - 8, true);
  }
}

export const DEPOSIT: RequestCodec<electra.DepositRequest> = {
  type: 0,
  name: "deposit",
  size: 192,
  limit: MAX_DEPOSIT_REQUESTS_PER_PAYLOAD,
  write: ({ pubkey, withdrawalCredentials, amount, signature, index }, writer) => {
    writer.put(pubkey);
    writer.put(withdrawalCredentials);
    writer.putUint64(BigInt(amount));
    writer.put(signature);
    writer.putUint64(index);
  },
  read: (reader) => ({
    pubkey: reader.take(48),
    withdrawalCredentials: reader.take(32),
    amount: Number(reader.takeUint64()),
    signature: reader.take(96),
    index: reader.takeUint64(),
  }),
};

export const WITHDRAWAL: RequestCodec<electra.WithdrawalRequest> = {
  type: 1,
  name: "withdrawal",
  size: 76,
  limit: MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD,
  write: ({ sourceAddress, validatorPubkey, amount }, writer) => {
    writer.put(sourceAddress);
    writer.put(validatorPubkey);
    writer.putUint64(amount);
  },
  read: (reader) => ({
    sourceAddress: reader.take(20),
    validatorPubkey: reader.take(48),
    amount: reader.takeUint64(),
  }),
};

export const CONSOLIDATION: RequestCodec<electra.ConsolidationRequest> = {
  type: 2,
  name: "consolidation",
  size: 116,
  limit: MAX_CONSOLIDATION_REQUESTS_PER_PAYLOAD,
  write: ({ sourceAddress, sourcePubkey, targetPubkey }, writer) => {
    writer.put(sourceAddress);
    writer.put(sourcePubkey);
    writer.put(targetPubkey);
  },
  read: (reader) => ({
    sourceAddress: reader.take(20),
    sourcePubkey: reader.take(48),
    targetPubkey: reader.take(48),
  }),
};

/** EIP-8282. */
export const BUILDER_DEPOSIT: RequestCodec<gloas.BuilderDepositRequest> = {
  type: 3,
  name: "builder deposit",
  size: 184,
  limit: MAX_BUILDER_DEPOSIT_REQUESTS_PER_PAYLOAD,
  write: ({ pubkey, withdrawalCredentials, amount, signature }, writer) => {
    writer.put(pubkey);
    writer.put(withdrawalCredentials);
    writer.putUint64(BigInt(amount));
    writer.put(signature);
  },
  read: (reader) => ({
    pubkey: reader.take(48),
    withdrawalCredentials: reader.take(32),
    amount: Number(reader.takeUint64()),
    signature: reader.take(96),
  }),
};

/** EIP-8282. */
export const BUILDER_EXIT: RequestCodec<gloas.BuilderExitRequest> = {
  type: 4,
  name: "builder exit",
  size: 68,
  limit: MAX_BUILDER_EXIT_REQUESTS_PER_PAYLOAD,
  write: ({ sourceAddress, pubkey }, writer) => {
    writer.put(sourceAddress);
    writer.put(pubkey);
  },
  read: (reader) => ({ sourceAddress: reader.take(20), pubkey: reader.take(48) }),
};

/**
 * Encodes execution requests per EIP-7685: the type byte and SSZ of each non-empty list, ordered by type. Does not load
 * the SSZ library, which keeps the EVM thread small.
 */
export function encodeRequests(requests: ExecutionRequests): Uint8Array[] {
  const { deposits, withdrawals, consolidations } = requests;
  const { builderDeposits = [], builderExits = [] } = requests as Partial<gloas.ExecutionRequests>;
  const lists = [
    encode(DEPOSIT, deposits),
    encode(WITHDRAWAL, withdrawals),
    encode(CONSOLIDATION, consolidations),
    encode(BUILDER_DEPOSIT, builderDeposits),
    encode(BUILDER_EXIT, builderExits),
  ];
  return lists.filter(({ length }) => length > 1);
}

/** Decodes the requests of an executed block. Since gloas, they include those of builders. */
export function decodeRequests(fork: ForkPostBellatrix, requests: readonly Uint8Array[]): ExecutionRequests {
  return {
    deposits: decode(DEPOSIT, requests),
    withdrawals: decode(WITHDRAWAL, requests),
    consolidations: decode(CONSOLIDATION, requests),
    ...(isForkPostGloas(fork) && {
      builderDeposits: decode(BUILDER_DEPOSIT, requests),
      builderExits: decode(BUILDER_EXIT, requests),
    }),
  };
}

/** Decodes the deposit requests of an executed block. */
export const decodeDeposits = (requests: readonly Uint8Array[]): electra.DepositRequest[] => decode(DEPOSIT, requests);

function encode<T>({ type, size, write }: RequestCodec<T>, list: readonly T[]): Uint8Array {
  const writer = new FieldWriter(1 + size * list.length);
  writer.put(Uint8Array.of(type));
  for (const request of list) write(request, writer);
  return writer.bytes;
}

/** Returns the SSZ list for one request type. */
export function bodyOf(requests: readonly Uint8Array[], { type }: Pick<RequestCodec<never>, "type">): Uint8Array {
  return requests.find(([first]) => first === type)?.subarray(1) ?? new Uint8Array(0);
}

function decode<T>({ type, size, read }: RequestCodec<T>, requests: readonly Uint8Array[]): T[] {
  const body = bodyOf(requests, { type });
  if (body.length % size !== 0) throw new RangeError(`Requests of type ${type} have ${body.length} bytes.`);
  const reader = new FieldReader(body);
  return Array.from({ length: body.length / size }, () => read(reader));
}
