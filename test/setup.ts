import { useNativeHasher } from "../src/chain/native-hasher.ts";

useNativeHasher();
