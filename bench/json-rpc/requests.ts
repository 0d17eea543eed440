export interface BenchedRequest {
  title: string;
  /** Path of a REST request. A JSON-RPC request has a body instead. */
  path?: string;
  body: string;
  /** Number of calls in the request. */
  calls: number;
  /** Length of every response body, if it is fixed. Any other length fails the measurement. */
  responseBytes?: number;
}

/**
 * Hex digits that the load generator replaces by a counter. A body that contains them differs in every request, so that
 * no server repeats a response.
 */
export const VARIED = "facefeedfacefeed";

const request = (id: number, method: string, params: unknown[]) => ({ jsonrpc: "2.0", id, method, params });

const single = (title: string, method: string, ...params: unknown[]): BenchedRequest => ({
  title,
  body: JSON.stringify(request(1, method, params)),
  calls: 1,
});

const rest = (title: string, path: string): BenchedRequest => ({ title: `${title}, REST`, path, body: "", calls: 1 });

export const GENESIS = single("genesis", "get_v1_beacon_genesis");

export const SINGLE_REQUESTS: readonly BenchedRequest[] = [
  GENESIS,
  single("header of the head", "get_v1_beacon_headers_blockId", "head"),
  single("finality checkpoints", "get_v1_beacon_states_finality_checkpoints", "head"),
  single("all 64 validators", "get_v1_beacon_states_stateId_validators", "head"),
  single("one validator", "get_v1_beacon_states_stateId_validators_validatorId", "head", "7"),
  rest("genesis", "/eth/v1/beacon/genesis"),
  rest("header of the head", "/eth/v1/beacon/headers/head"),
  rest("finality checkpoints", "/eth/v1/beacon/states/head/finality_checkpoints"),
  rest("all 64 validators", "/eth/v1/beacon/states/head/validators"),
  rest("one validator", "/eth/v1/beacon/states/head/validators/7"),
];

export const BATCH: BenchedRequest = {
  title: "batch of 100 genesis calls",
  body: JSON.stringify(Array.from({ length: 100 }, (_, id) => request(id, "get_v1_beacon_genesis", []))),
  calls: 100,
};
