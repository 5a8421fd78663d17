import { noUsage } from "../../token-usage.ts";
import type { Consolidator } from "../consolidator.ts";

/** For banks without any provider: every fact is looked at and nothing is observed. */
export const abstainingConsolidator: Consolidator = {
  propose: async () => ({ deletes: [], updates: [], creates: [], supersedes: [], usage: noUsage }),
  mergeTwins: async () => ({ text: undefined, usage: noUsage }),
};
