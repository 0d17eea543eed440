/** Peer ids cannot be longer, since keys above 42 bytes are hashed. The bound protects the slow decoders. */
const MAX_CHARACTERS = 128;
const SHA256_BYTES = 32;

/**
 * Parses a libp2p peer id in base58btc or CIDv1 and returns it in base58btc. Returns undefined if the text is invalid.
 */
export async function parsePeerId(text: string): Promise<string | undefined> {
  if (text.length > MAX_CHARACTERS) return undefined;
  const { peerIdFromString } = await import("@libp2p/peer-id");
  try {
    const peerId = peerIdFromString(text);
    // The library also accepts URLs, and it does not check the length of a hash.
    if (peerId.type === "url") return undefined;
    if (peerId.type === "RSA" && peerId.toMultihash().digest.length !== SHA256_BYTES) return undefined;
    return peerId.toString();
  } catch {
    return undefined;
  }
}
