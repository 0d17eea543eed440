import { ForkName } from "@lodestar/params";
import { testSameAnswers } from "./same-answers.ts";

testSameAnswers(ForkName.fulu);
