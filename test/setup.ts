import { useNativeHasher } from "../src/runtime/native-hasher.ts";
import { rememberSignatures } from "./support/bls/remembered-signatures.ts";
import { disableSigningThreads } from "./support/bls/signing-threads.ts";
import { waitPatiently } from "./support/suite/patient-waits.ts";

useNativeHasher();
rememberSignatures();
disableSigningThreads();
waitPatiently();
