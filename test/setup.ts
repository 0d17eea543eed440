import { useNativeHasher } from "../src/chain/states/native-hasher.ts";
import { waitPatiently } from "./support/patient-waits.ts";
import { rememberSignatures } from "./support/remembered-signatures.ts";

useNativeHasher();
rememberSignatures();
waitPatiently();
