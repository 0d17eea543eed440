import { useNativeHasher } from "../src/chain/native-hasher.ts";
import { rememberSignatures } from "./support/remembered-signatures.ts";

useNativeHasher();
rememberSignatures();
