import { ForkName } from "@lodestar/params";
import { testSameAnswers } from "./same-answers.ts";

testSameAnswers(ForkName.phase0);
testSameAnswers(ForkName.electra);
testSameAnswers(ForkName.gloas);
