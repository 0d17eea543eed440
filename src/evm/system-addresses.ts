/** Addresses of the system contracts, for code that does not load the EVM libraries. */

const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));

/** EIP-4788. */
export const BEACON_ROOTS: Uint8Array = bytesOf("000f3df6d732807ef1319fb7b8bb8522d0beac02");
/** EIP-2935. */
export const HISTORY_STORAGE: Uint8Array = bytesOf("0000f90827f1c53a10cb7a02335b175320002935");
/** EIP-7002. */
export const WITHDRAWAL_REQUESTS: Uint8Array = bytesOf("00000961ef480eb55e80d19ad83579a64c007002");
/** EIP-7251. */
export const CONSOLIDATION_REQUESTS: Uint8Array = bytesOf("0000bbddc7ce488642fb579f8b00f3a590007251");
/** EIP-8282. */
export const BUILDER_DEPOSITS: Uint8Array = bytesOf("0000bff46984e3725691fa540a8c7589300d8282");
/** EIP-8282. */
export const BUILDER_EXITS: Uint8Array = bytesOf("000064d678505ad48f8ccb093bc65613800e8282");
