/**
 * Measures the import of history during sync. The same chain goes through `BeaconChain.importSegment`, through
 * `BeaconChain.importBlock` in a loop, and through the library's state transition alone, with and without signatures.
 *
 *     npm run bench -- sync-import [slots] [blocks per segment]
 */
process.env.LODESTAR_PRESET = "minimal";
const { benchSyncImport } = await import("./sync-import/run.ts");
await benchSyncImport({ slots: Number(process.argv[2] ?? 2000), segment: Number(process.argv[3] ?? 64) });
