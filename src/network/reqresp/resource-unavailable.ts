/** What was asked for is not there, although by the protocol it should be: response code 3 of phase0/p2p-interface.md. */
export class ResourceUnavailable extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ResourceUnavailable";
  }
}
