/** No peer id is longer: keys of more than 42 bytes are hashed. The bound keeps the decoders, which are slow, from long text. */
const MAX_CHARACTERS = 128;
const SHA256_BYTES = 32;

/**
 * Reads a libp2p peer id, in base58btc or as a CIDv1, and writes it in base58btc, by which peers are looked up.
 * Undefined for text that is no peer id.
 */
export async function parsePeerId(text: string): Promise<string | undefined> {
  if (text.length > MAX_CHARACTERS) return undefined;
  const { peerIdFromString } = await import("@libp2p/peer-id");
  try {
    const peerId = peerIdFromString(text);
    // The library also reads web addresses as ids, and does not look at the length of a hash.
    if (peerId.type === "url") return undefined;
    if (peerId.type === "RSA" && peerId.toMultihash().digest.length !== SHA256_BYTES) return undefined;
    return peerId.toString();
  } catch {
    return undefined;
  }
}
