import { useNativeHasher } from "../src/chain/states/native-hasher.ts";
import { rememberSignatures } from "./support/crypto/remembered-signatures.ts";
import { waitPatiently } from "./support/suite/patient-waits.ts";

useNativeHasher();
rememberSignatures();
waitPatiently();
